"""How far the dream can be trusted: world model, judge, and dreams done again for real."""

from dynaweb.bench.results import (
    DepthRow,
    FidelityReport,
    FidelityRow,
    JudgeReport,
    ReplayReport,
    Share,
)
from dynaweb.evaluate.statistics import Rate, wilson
from dynaweb.report.charts import RATE_AXIS, Axis, Mark, axis_labels, interval_strip, share_bar
from dynaweb.report.data import ReportData
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.parts import badge, missing, note, section, table
from dynaweb.report.words import NONE, interval, percent

KINDS: tuple[tuple[str, str], ...] = (
    ("local_determined", "part of the page changed, outcome determined"),
    ("local", "part of the page changed, all"),
    ("full_page_determined", "page replaced, outcome determined"),
    ("full_page", "page replaced, all"),
    ("unchanged", "nothing changed"),
    ("by_rules", "a rule made the whole change, model asked"),
    ("settled", "a rule settled it, no model asked"),
    ("ended", "the episode ended: it said so"),
    ("end_precision", "it said that the episode ended: it did"),
)
"""Field of a fidelity row -> what it counts."""


def fidelity_section(data: ReportData) -> Html:
    """How well the world model imagines pages, and the judge judges."""
    intro = (
        "One imagined step on pages that no training saw, against the page that really came. Copy imagines that nothing "
        "changes; rules only is what our code knows without a model."
    )
    found, judged = data.fidelity, data.judge
    notes = data.summary.notes
    return section(
        "fidelity",
        "World model and judge",
        intro,
        _fidelity(found, notes.get("fidelity", ""))
        if found
        else missing("the world model's fidelity", "fidelity.json"),
        tag("h3", "The judge"),
        _judge(judged, notes.get("judge", "")) if judged else missing("the judge", "judge.json"),
    )


def belief_section(data: ReportData) -> Html:
    """Dreams done again in the real browser."""
    intro = (
        "Dreams are falsifiable: a sample of them is done again in the real browser. Of the dreams that ended in success, "
        "this share succeeded for real."
    )
    heading = "Can dreams be believed?"
    if data.replays is None:
        return section("belief", heading, intro, missing("replays of dreams", "replays.json"))
    body = _replays(data.replays, data.summary.precision_bar, data.summary.notes.get("replays", ""))
    return section("belief", heading, intro, body)


def rate_of(share: Share) -> Rate:
    """A counted share with its Wilson interval."""
    low, high = wilson(share.hits, share.n)
    return Rate(successes=share.hits, n=share.n, unknown=0, low=low, high=high)


def share_words(share: Share) -> str:
    """`17 of 231 (7.4 %)`; a dash when nothing was counted."""
    return f"{share.hits} of {share.n} ({percent(share.fraction, 1)})" if share.n else NONE


def _fidelity(found: FidelityReport, said: str) -> list[Child]:
    total = found.total
    rows = [_kind_row(label, getattr(total, field)) for field, label in KINDS]
    return [
        table(
            ["what the action did", "n", "next page exact", "95 % interval"],
            [r for r in rows if r is not None],
            numeric=(1,),
            caption="Exact next page by kind of change",
            cls="fidelity",
        ),
        _baselines(total),
        tag(
            "details",
            tag("summary", "By task"),
            table(
                [
                    "task",
                    "n",
                    "any page",
                    "copy",
                    "part changed",
                    "part changed, determined",
                    "page replaced",
                ],
                [_task_row(r) for r in found.by_task],
                numeric=(1,),
                caption="Exact next page by task",
                cls="fidelity",
            ),
        ),
        note(
            f"{found.steps} steps on {found.seeds} pages. Replies that were no usable change: {share_words(total.invalid)}; "
            f"usable only at a retry: {share_words(total.repaired)}. {said} Model: ",
            tag("code", found.world_model),
            ".",
        ),
    ]


def _kind_row(label: str, share: Share) -> list[Child] | None:
    if not share.n:
        return None
    rate = rate_of(share)
    return [label, share.n, _bar(share, "dream"), interval(rate.low, rate.high)]


def _baselines(total: FidelityRow) -> Html:
    """What the model adds to changing nothing and to rules."""
    changed = total.local + total.full_page
    ours, none = total.element_f1, total.element_f1_copy
    rows: list[list[Child]] = [
        [
            "exact, steps that a model is for",
            changed.n,
            _bar(changed, "dream"),
            _bar(total.copy, "plain"),
            _bar(total.rules_only, "plain"),
        ],
        [
            "exact, every step that went on",
            total.any_page.n,
            _bar(total.any_page, "dream"),
            _bar(total.any_page_copy, "plain"),
            NONE,
        ],
        [
            "F1 of changed elements",
            ours.n,
            _value(ours.value, "dream"),
            _value(none.value, "plain"),
            NONE,
        ],
    ]
    return table(
        ["", "n", "world model", "copy", "rules only"],
        rows,
        numeric=(1,),
        caption="Against doing nothing",
        cls="fidelity",
    )


def _value(value: float | None, kind: str) -> Child:
    text = NONE if value is None else f"{value:.3f}"
    return [share_bar(value, kind, text, 120), " ", tag("span", text, cls="words")]


def _task_row(row: FidelityRow) -> list[Child]:
    return [
        tag("code", row.task),
        row.any_page.n,
        _bar(row.any_page, "dream"),
        _bar(row.any_page_copy, "plain"),
        share_words(row.local),
        share_words(row.local_determined),
        share_words(row.full_page),
    ]


def _bar(share: Share, kind: str) -> Child:
    text = percent(share.fraction, 1)
    return [
        share_bar(share.fraction, kind, share_words(share), 120),
        " ",
        tag("span", text, cls="words"),
    ]


def _judge(judge: JudgeReport, said: str) -> list[Child]:
    rows = [
        _judge_row("real failures that it called success", judge.total.false_positives, "worse"),
        _judge_row("the same, where no rule decided", judge.asked_total.false_positives, "worse"),
        _judge_row("real successes that it called success", judge.total.recall, "better"),
        _judge_row("the same, where no rule decided", judge.asked_total.recall, "better"),
    ]
    return [
        table(
            ["attempts", "judged so", "share", "95 % interval", axis_labels(RATE_AXIS)],
            rows,
            numeric=(2,),
            caption="The judge on real attempts whose end is known",
            cls="arms",
        ),
        note(f"{judge.population}. Could not tell: {share_words(judge.total.unknown)}. {said}"),
    ]


def _judge_row(name: str, share: Share, kind: str) -> list[Child]:
    rate = rate_of(share)
    return [
        name,
        _count(share),
        _big(share, 1),
        _interval(rate),
        _strip(rate, kind, name, RATE_AXIS),
    ]


def _count(share: Share) -> str:
    return f"{share.hits} of {share.n}"


def _big(share: Share, digits: int = 0) -> Html:
    return tag("span", percent(share.fraction, digits), cls="big")


def _interval(rate: Rate) -> str:
    return interval(rate.low, rate.high) if rate.n else NONE


def _strip(rate: Rate, kind: str, name: str, axis: Axis) -> Html | None:
    if rate.rate is None:
        return None
    mark = Mark(value=rate.rate, low=rate.low, high=rate.high, kind=kind)
    label = f"{name}: {percent(rate.rate, 1)}, interval {interval(rate.low, rate.high)}"
    return interval_strip(axis, [mark], label)


def _replays(found: ReplayReport, bar: float | None, said: str) -> list[Child]:
    axis = Axis(low=0.0, high=1.0, ticks=RATE_AXIS.ticks, zero=bar)
    rows = [_depth_row(r, axis, bar) for r in found.rows if r.pages_equal.n]
    every = found.success_precision
    rows.append(
        [
            tag("strong", "all"),
            _count(every),
            _precision(every, bar),
            _interval(rate_of(every)),
            _strip(rate_of(every), _belief(every, bar), "all depths", axis),
            "",
        ]
    )
    rule = (
        ""
        if bar is None
        else f"The rule in the chart is the bar, {percent(bar)}: below it training warns. "
    )
    return [
        table(
            [
                "dreamed actions",
                "real of dreamed",
                "precision",
                "95 % interval",
                axis_labels(axis),
                "page equal",
            ],
            rows,
            numeric=(2,),
            caption="Dreamed successes that were real, by depth",
            cls="arms",
        ),
        note(
            rule,
            f"{found.dreams} dreams were done again. They claim {share_words(found.dreamed_success)} success; the same actions "
            f"really reached {share_words(found.real_success)}. Of the real successes the dream knew {share_words(found.success_recall)}. "
            f"Actions whose element was not on the real page: {share_words(found.unmapped)}; each counts as a failure. "
            f"Replays that the browser broke off: {found.broken}, in no number here. {said}",
        ),
    ]


def _depth_row(row: DepthRow, axis: Axis, bar: float | None) -> list[Child]:
    share = row.success_precision
    rate = rate_of(share)
    return [
        str(row.depth),
        _count(share),
        _precision(share, bar),
        _interval(rate),
        _strip(rate, _belief(share, bar), f"depth {row.depth}", axis),
        share_words(row.pages_equal),
    ]


def _precision(share: Share, bar: float | None) -> Child:
    below = _belief(share, bar) == "worse"
    return [badge("failure", "below the bar") if below else None, " ", _big(share)]


def _belief(share: Share, bar: float | None) -> str:
    below = bar is not None and share.fraction is not None and share.fraction < bar
    return "worse" if below else "dream"
