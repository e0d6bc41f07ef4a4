"""Dreams done again in the real browser: can they be believed, by depth."""

from collections.abc import Sequence

from dynaweb.bench.results import DepthRow, ReplayReport, Share
from dynaweb.gspo.audit import AuditPoint
from dynaweb.report.charts import RATE_AXIS, Axis, axis_labels
from dynaweb.report.data import ReportData
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.parts import badge, missing, note, section, table
from dynaweb.report.shares import big, counted, rate_of, share_interval, share_strip, share_words
from dynaweb.report.words import NONE, percent


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
    return section("belief", heading, intro, body, _audits(data.summary.audits))


def _audits(audits: Sequence[AuditPoint]) -> Html | None:
    """Dreamed beside real success while the agent trained: where they part, it learns its world model's mistakes."""
    if not audits:
        return None
    rows: list[list[Child]] = [
        [
            str(a.iteration),
            share_words(Share(hits=a.dreamed_success, n=a.dreams)),
            share_words(Share(hits=a.real_success, n=a.dreams)),
            NONE if a.gap is None else f"{100 * a.gap:+.0f} points",
            badge("failure", "warned") if a.warned else "",
        ]
        for a in audits
    ]
    return table(
        ["iteration", "dreamed success", "the same actions for real", "gap", ""],
        rows,
        numeric=(0, 3),
        caption="While the agent trained: the same starts, dreamed and real",
    )


def _replays(found: ReplayReport, bar: float | None, said: str) -> list[Child]:
    axis = Axis(low=0.0, high=1.0, ticks=RATE_AXIS.ticks, zero=bar)
    rows = [_depth_row(r, axis, bar) for r in found.rows if r.pages_equal.n]
    every = found.success_precision
    rows.append(
        [
            tag("strong", "all"),
            counted(every),
            _precision(every, bar),
            share_interval(rate_of(every)),
            share_strip(rate_of(every), _belief(every, bar), "all depths", axis),
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
        counted(share),
        _precision(share, bar),
        share_interval(rate),
        share_strip(rate, _belief(share, bar), f"depth {row.depth}", axis),
        share_words(row.pages_equal),
    ]


def _precision(share: Share, bar: float | None) -> Child:
    below = _belief(share, bar) == "worse"
    return [badge("failure", "below the bar") if below else None, " ", big(share)]


def _belief(share: Share, bar: float | None) -> str:
    below = bar is not None and share.fraction is not None and share.fraction < bar
    return "worse" if below else "dream"
