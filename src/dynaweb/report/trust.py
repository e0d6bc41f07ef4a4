"""How far the dream can be trusted: world model, judge, and dreams done again for real."""

from dynaweb.evaluate.statistics import Rate
from dynaweb.report.charts import RATE_AXIS, Axis, Mark, axis_labels, interval_strip, share_bar
from dynaweb.report.data import (
    DreamPrecision,
    FidelityRow,
    FidelityTable,
    JudgeTable,
    PrecisionRow,
    ReportData,
    Share,
)
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.parts import badge, missing, note, section, table
from dynaweb.report.words import NONE, interval, percent, rate_words


def fidelity_section(data: ReportData) -> Html:
    """How well the world model imagines pages, and the judge judges."""
    intro = "One imagined step on seeds that no training saw, against the page that really came. Copy means: imagine no change."
    table_ = data.fidelity
    return section(
        "fidelity",
        "World model and judge",
        intro,
        _fidelity(table_)
        if table_
        else missing("the world model's fidelity", "world/fidelity.json"),
        tag("h3", "The judge"),
        _judge(data.judge) if data.judge else missing("the judge", "world/judge.json"),
    )


def precision_section(data: ReportData) -> Html:
    """Dreams done again in the real browser."""
    intro = (
        "Dreams are falsifiable: a sample of them is replayed in the real browser. Of the dreams that ended in success, "
        "this share succeeded for real."
    )
    heading = "Can dreams be believed?"
    if data.precision is None:
        return section("precision", heading, intro, missing("replays of dreams", "gspo/audit.json"))
    return section("precision", heading, intro, _precision(data.precision))


def _fidelity(found: FidelityTable) -> list[Child]:
    rows = [_fidelity_row(r) for r in found.rows]
    by_task = [_fidelity_row(r) for r in found.by_task]
    heads = ["pages", "n", "exact next page", "copy", "element F1"]
    invalid = (
        f"Replies that could not be read or applied: {_share_words(found.invalid)}. "
        if found.invalid
        else ""
    )
    return [
        table(
            heads, rows, numeric=(1, 4), caption="Exact next page by kind of change", cls="fidelity"
        ),
        tag(
            "details",
            tag("summary", "By task"),
            table(
                heads, by_task, numeric=(1, 4), caption="Exact next page by task", cls="fidelity"
            ),
        )
        if by_task
        else None,
        note(invalid, found.note, " Model: ", tag("code", found.world_model_version), "."),
    ]


def _fidelity_row(row: FidelityRow) -> list[Child]:
    return [
        row.label,
        row.exact.n,
        _bar(row.exact, "dream"),
        _bar(row.copy_exact, "plain"),
        NONE if row.element_f1 is None else f"{row.element_f1:.3f}",
    ]


def _bar(share: Share, kind: str) -> Child:
    return [
        share_bar(share.rate, kind, _share_words(share), 120),
        " ",
        tag("span", percent(share.rate, 1), cls="words"),
    ]


def _share_words(share: Share) -> str:
    return f"{share.successes} of {share.n} ({percent(share.rate, 1)})"


def _judge(judge: JudgeTable) -> list[Child]:
    rows = [
        _judge_row(
            "real failures that it called success (false positives)", judge.false_positives, "worse"
        ),
        _judge_row("real successes that it called success (recall)", judge.recall, "better"),
    ]
    threshold = (
        ""
        if judge.threshold is None
        else f"Says success from P(success) {judge.threshold:.3f} on. "
    )
    return [
        table(
            ["attempts", "judged so", "share", "95 % interval", axis_labels(RATE_AXIS)],
            rows,
            numeric=(2,),
            caption="The judge on real attempts whose end is known",
            cls="arms",
        ),
        note(threshold, judge.note, " Model: ", tag("code", judge.version), "."),
    ]


def _judge_row(name: str, rate: Rate, kind: str) -> list[Child]:
    return [
        name,
        rate_words(rate).split(" (")[0],
        tag("span", percent(rate.rate, 1), cls="big"),
        interval(rate.low, rate.high),
        _rate_strip(rate, kind, name, RATE_AXIS),
    ]


def _rate_strip(rate: Rate, kind: str, name: str, axis: Axis) -> Html | None:
    if rate.rate is None:
        return None
    mark = Mark(value=rate.rate, low=rate.low, high=rate.high, kind=kind)
    return interval_strip(
        axis, [mark], f"{name}: {percent(rate.rate, 1)}, interval {interval(rate.low, rate.high)}"
    )


def _precision(found: DreamPrecision) -> list[Child]:
    axis = Axis(low=0.0, high=1.0, ticks=RATE_AXIS.ticks, zero=found.bar)
    bar = (
        ""
        if found.bar is None
        else f"The rule in the chart is the bar, {percent(found.bar)}: below it training warns. "
    )
    return [
        table(
            [
                "dreamed actions",
                "confirmed",
                "share",
                "95 % interval",
                axis_labels(axis),
                "could not be replayed",
                "pages equal",
            ],
            [_precision_row(r, axis, found.bar) for r in found.rows],
            numeric=(2, 5),
            caption="Dreamed successes that were real, by depth",
            cls="arms",
        ),
        note(bar, found.note),
    ]


def _precision_row(row: PrecisionRow, axis: Axis, bar: float | None) -> list[Child]:
    rate = row.confirmed
    below = bar is not None and rate.rate is not None and rate.rate < bar
    return [
        str(row.depth),
        rate_words(rate).split(" (")[0],
        [
            tag("span", percent(rate.rate), cls="big"),
            badge("failure", "below the bar") if below else None,
        ],
        interval(rate.low, rate.high),
        _rate_strip(rate, "worse" if below else "dream", f"depth {row.depth}", axis),
        rate.unknown,
        NONE if row.pages_equal is None else _share_words(row.pages_equal),
    ]
