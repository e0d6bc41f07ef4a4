"""The figure: real success against live steps spent, a curve an arm. Inline on the page, and a file of its own.

A curve begins at the first agent, goes level to where the arm's own live steps are paid for, and then from
checkpoint to checkpoint; training that spends no live step goes straight up or down. Every number stands in the
table too, and arms are told apart by colour, dash and letter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dynaweb.evaluate.learning import ArmCurve, CurvePoint
from dynaweb.report.charts import round_ticks
from dynaweb.report.html import Html, code_block, tag
from dynaweb.report.learning.data import LearningReport
from dynaweb.report.page import asset
from dynaweb.report.words import percent

WIDTH, HEIGHT = 880, 470
LEFT, RIGHT, TOP, BOTTOM = 64, 270, 22, 52
APART = 7.0
"""Pixels between curves that would lie on one another."""
LETTERS = "ABCDEFGHIJ"
ROOM = 0.05
"""Of success, left free above and below what is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Where numbers lie on the drawing."""

    most_steps: float
    low: float
    high: float

    def x(self, steps: float) -> float:
        return LEFT + steps / self.most_steps * (WIDTH - LEFT - RIGHT)

    def y(self, rate: float) -> float:
        return (
            HEIGHT - BOTTOM - (rate - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)
        )


def learning_figure(report: LearningReport) -> Html:
    """One drawing of all arms that are measured."""
    curves = [c for c in report.results.curves if c.points]
    frame = _framed(curves)
    start = next((c.points[0] for c in curves if c.points[0].checkpoint == 0), None)
    others = [c for c in curves if c.points[0].checkpoint != 0]
    drawn = [_curve(frame, i, c, start) for i, c in enumerate(others)]
    return tag(
        "svg",
        tag("title", "Real success against live steps spent: " + "; ".join(map(_said, curves))),
        _grid(frame),
        drawn,
        _start(frame, start) if start is not None else None,
        _legend(others, start),
        cls="learning",
        role="img",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH,
        height=HEIGHT,
    )


def standalone(figure: Html) -> str:
    """The figure as an SVG file that needs nothing, in light and dark."""
    style = code_block("style", asset("report.css")).text
    head, _, rest = figure.text.partition(">")
    return head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1) + f">{style}{rest}\n"


def _framed(curves: Sequence[ArmCurve]) -> _Frame:
    points = [p for c in curves for p in c.points if p.rate is not None]
    ends = [v for p in points for v in (p.rate, p.low, p.high) if v is not None] or [0.0, 1.0]
    return _Frame(
        most_steps=max((p.live_steps for p in points), default=1.0) * 1.05 or 1.0,
        low=max(0.0, min(ends) - ROOM),
        high=min(1.0, max(ends) + ROOM),
    )


def _grid(frame: _Frame) -> list[Html]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    rows = [
        tag(
            "g",
            tag("line", cls="grid", x1=LEFT, x2=right, y1=frame.y(t), y2=frame.y(t)),
            tag("text", percent(t), x=LEFT - 8, y=frame.y(t) + 4, text_anchor="end"),
        )
        for t in round_ticks(frame.low, frame.high, 5)
    ]
    columns = [
        tag("text", f"{t:.0f}", x=frame.x(t), y=bottom + 18, text_anchor="middle")
        for t in round_ticks(0.0, frame.most_steps, 6)
    ]
    name = tag(
        "text",
        "live steps spent: actions on real pages, demonstrations included",
        x=(LEFT + right) / 2,
        y=HEIGHT - 12,
        text_anchor="middle",
    )
    return [*rows, *columns, name, tag("text", "real success", x=LEFT - 52, y=12)]


def _curve(frame: _Frame, index: int, curve: ArmCurve, start: CurvePoint | None) -> Html:
    """Curves are set apart by a few pixels: several arms have spent the same."""
    shift = (index - 2.5) * APART
    at = [
        (frame.x(p.live_steps) + shift, frame.y(p.rate)) for p in curve.points if p.rate is not None
    ]
    path = list(at)
    if start is not None and start.rate is not None:
        level, first = frame.y(start.rate), curve.points[0]
        paid = min(first.live_steps, _paid_before(curve))
        path = [(frame.x(start.live_steps), level), (frame.x(paid) + shift, level), *at]
    x, y = at[-1]
    return tag(
        "g",
        tag("polyline", cls="line", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in path)),
        [tag("circle", cls="dot", cx=a, cy=b, r=3) for a, b in at],
        _whisker(frame, curve.points[-1], x),
        tag("text", LETTERS[index], cls="letter", x=x + 5, y=y - 5),
        cls=f"curve arm-{index}",
    )


def _paid_before(curve: ArmCurve) -> float:
    """Where an arm's training begins on the axis: what it spends while it trains rises evenly from there."""
    steps = [p.live_steps for p in curve.points]
    if len(steps) < 2:
        return steps[0]
    return max(0.0, steps[0] - (steps[-1] - steps[0]) / (len(steps) - 1))


def _whisker(frame: _Frame, point: CurvePoint, x: float) -> Html | None:
    if point.low is None or point.high is None:
        return None
    return tag("line", cls="whisker", x1=x, x2=x, y1=frame.y(point.low), y2=frame.y(point.high))


def _start(frame: _Frame, start: CurvePoint) -> Html | None:
    if start.rate is None:
        return None
    x, y = frame.x(start.live_steps), frame.y(start.rate)
    return tag("g", tag("circle", cls="dot", cx=x, cy=y, r=5), cls="curve all")


def _legend(curves: Sequence[ArmCurve], start: CurvePoint | None) -> list[Html]:
    x = WIDTH - RIGHT + 18
    rows = [] if start is None else [_row(x, 0, "all", "", f"first agent {_rate(start)}")]
    return rows + [
        _row(x, i + 1, f"arm-{i}", LETTERS[i], f"{c.arm} {_rate(c.points[-1])}")
        for i, c in enumerate(curves)
    ]


def _row(x: float, number: int, kind: str, letter: str, words: str) -> Html:
    y = TOP + 14 + 24 * number
    return tag(
        "g",
        tag("line", cls="line", x1=x, x2=x + 24, y1=y - 4, y2=y - 4),
        tag("text", letter, cls="letter", x=x + 28, y=y),
        tag("text", words, x=x + 42, y=y),
        cls=f"curve {kind}",
    )


def _rate(point: CurvePoint) -> str:
    return f"{percent(point.rate)} (n = {point.n})"


def _said(curve: ArmCurve) -> str:
    return f"{curve.arm} " + ", ".join(
        f"{percent(p.rate)} after {p.live_steps:.0f}" for p in curve.points
    )
