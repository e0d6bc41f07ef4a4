"""How well the world model imagines pages, and the judge judges."""

from dynaweb.bench.results import FidelityReport, FidelityRow, JudgeReport, Share
from dynaweb.report.charts import RATE_AXIS, axis_labels, share_bar
from dynaweb.report.data import ReportData
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.parts import missing, note, section, table
from dynaweb.report.shares import big, counted, rate_of, share_interval, share_strip, share_words
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


JUDGED = (
    ("real failures called success", "false_positives", "worse"),
    ("real successes called success", "recall", "better"),
    ("real successes called failure", "false_negatives", "worse"),
)
"""What is shown of the judge: words, field of `JudgeRow`, and whether more of it is good."""


def _judge(judge: JudgeReport, said: str) -> list[Child]:
    asked = ((judge.total, ""), (judge.asked_total, ", where no rule decided"))
    rows = [
        _judge_row(label + where, getattr(row, field), kind)
        for label, field, kind in JUDGED
        for row, where in asked
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
        counted(share),
        big(share, 1),
        share_interval(rate),
        share_strip(rate, kind, name, RATE_AXIS),
    ]
