"""What it took: learning curves, speed, data, and where the time went."""

from collections.abc import Sequence

from dynaweb.report.charts import (
    line_chart,
    share_bar,
)
from dynaweb.report.data import (
    Curve,
    ReportData,
    Speed,
)
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.parts import badge, missing, note, section, table
from dynaweb.report.words import NONE, duration, number

SOURCES = ("live", "dream", "expert", "all")

FIRST = (
    "reward",
    "audit/dreamed_rate",
    "audit/real_rate",
    "audit/precision",
    "advantage",
    "clip_fraction",
    "steps",
    "policy_tokens",
    "update/loss",
    "update/kl",
    "update/grad_norm",
    "groups_trained",
    "groups_no_variance",
)
"""Curves shown before the reader asks for more, in this order."""


def learning_section(data: ReportData) -> Html:
    """Curves of every metric, by source."""
    intro = "Training, iteration by iteration. Dreams and expert trajectories are never averaged together."
    heading = "Learning curves"
    if not data.curves:
        return section("learning", heading, intro, missing("training", "metrics.jsonl"))
    metrics = list(dict.fromkeys(c.metric for c in data.curves))
    sources = [s for s in SOURCES if any(c.source == s for c in data.curves)]
    first = [m for m in FIRST if m in metrics] or metrics
    rest = [m for m in metrics if m not in first]
    return section(
        "learning",
        heading,
        intro,
        tag("p", [tag("span", line_key(s), f" {s}", cls="key") for s in sources], cls="legend"),
        _charts(data.curves, first),
        tag("details", tag("summary", "More curves"), _charts(data.curves, rest)) if rest else None,
    )


def speed_section(data: ReportData) -> Html:
    """Why to dream at all."""
    intro = "Whole episodes per second on this machine, the same agent in both worlds."
    speed = data.summary.speed
    body = _speed(speed) if speed else missing("speed", "summary.json")
    return section("speed", "Speed", intro, body, _stages(data))


def data_section(data: ReportData) -> Html:
    """What the models learned from."""
    intro = "Trajectories by who acted, and what was left out of training, with the reason."
    rows = data.summary.data
    body: Child = (
        table(
            ["behaviour", "policy", "world", "success", "failure", "unknown", "steps"],
            [
                [
                    r.behaviour,
                    tag("code", r.policy or NONE),
                    badge(r.world),
                    r.success,
                    r.failure,
                    r.unknown,
                    r.steps,
                ]
                for r in rows
            ],
            numeric=(3, 4, 5, 6),
            caption="Trajectories",
        )
        if rows
        else missing("the data", "summary.json")
    )
    drops = data.summary.drops
    return section(
        "data",
        "Data",
        intro,
        body,
        table(
            ["stage", "left out because", "examples"],
            [[d.stage, d.reason, d.count] for d in drops],
            numeric=(2,),
            caption="Left out",
        )
        if drops
        else None,
    )


def _charts(curves: Sequence[Curve], metrics: Sequence[str]) -> Html:
    return tag(
        "div", [_chart(m, [c for c in curves if c.metric == m]) for m in metrics], cls="charts"
    )


def _chart(metric: str, curves: Sequence[Curve]) -> Html:
    name = metric.replace("_", " ").replace("/", " ")
    return tag("figure", tag("figcaption", name), line_chart(name, curves))


def line_key(source: str) -> Html:
    """A short piece of a source's line, for the legend."""
    return tag(
        "svg",
        tag(
            "g",
            tag("line", cls="line", x1=0, x2=26, y1=6, y2=6),
            cls=f"curve {source} dash-{source}",
        ),
        cls="swatch",
        aria_hidden="true",
        viewBox="0 0 26 12",
        width=26,
        height=12,
    )


def _speed(speed: Speed) -> list[Child]:
    top = max(speed.live, speed.dreamed, 1e-9)
    ratio = (
        f"{number(speed.dreamed / speed.live)} dreamed episodes in the time of a real one. "
        if speed.live
        else ""
    )
    return [
        table(
            ["world", "episodes per second", ""],
            [
                [
                    badge(k),
                    tag("span", number(v), cls="big"),
                    share_bar(v / top, k, f"{k}: {number(v)} a second", 340),
                ]
                for k, v in (("live", speed.live), ("dream", speed.dreamed))
            ],
            numeric=(1,),
            caption="Episodes per second",
        ),
        note(ratio, speed.note),
    ]


def _stages(data: ReportData) -> Html | None:
    stages = data.summary.stages
    if not stages:
        return None
    total = sum(s.seconds for s in stages)
    longest = max(s.seconds for s in stages) or 1.0
    return table(
        ["stage", "time", ""],
        [
            *(
                [
                    s.stage,
                    duration(s.seconds),
                    share_bar(s.seconds / longest, "plain", s.stage, 340),
                ]
                for s in stages
            ),
            [tag("strong", "all"), duration(total), None],
        ],
        numeric=(1,),
        caption="Where the time went",
    )
