"""Charts as inline SVG: small, without scripts, readable in light and dark (colours are classes in report.css).

Every chart also says its numbers as text beside it or in its table, so nothing is carried by colour alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dynaweb.report.data import Curve
from dynaweb.report.html import Html, tag
from dynaweb.report.words import MINUS, number

DASHES = {"expert": "dash-expert", "dream": "dash-dream", "live": "dash-live"}
"""Source -> class that tells lines apart without colour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One estimate on an axis."""

    value: float
    low: float
    high: float
    kind: str
    """Class for its colour: `live`, `dream`, `better`, `worse`, `open`."""
    hollow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A horizontal scale shared by the rows of a table."""

    low: float
    high: float
    ticks: tuple[float, ...]
    zero: float | None = None
    """Where a rule is drawn: no difference, or a bar to be above."""

    def at(self, value: float, width: float, pad: float = 10) -> float:
        """Pixel position of a value; outside values stop at the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return pad + share * (width - 2 * pad)


RATE_AXIS = Axis(low=0.0, high=1.0, ticks=(0.0, 0.25, 0.5, 0.75, 1.0))


def difference_axis(lows: Sequence[float], highs: Sequence[float]) -> Axis:
    """Symmetric about zero, wide enough for every interval, in tenths."""
    reach = max((abs(v) for v in (*lows, *highs)), default=0.1)
    top = min(1.0, max(0.1, math.ceil(reach * 10 + 1e-9) / 10))
    return Axis(low=-top, high=top, ticks=(-top, -top / 2, 0.0, top / 2, top), zero=0.0)


def interval_strip(axis: Axis, marks: Sequence[Mark], label: str, width: int = 340) -> Html:
    """Point estimates with their intervals, on the table's axis."""
    height = 14 + 16 * max(0, len(marks) - 1) + 10
    parts = [_tick(axis, t, width, height) for t in axis.ticks]
    if axis.zero is not None:
        x = axis.at(axis.zero, width)
        parts.append(tag("line", cls="zero", x1=x, x2=x, y1=0, y2=height))
    for i, mark in enumerate(marks):
        parts.append(_mark(axis, mark, width, 12 + 16 * i))
    return tag(
        "svg",
        tag("title", label),
        parts,
        cls="strip",
        role="img",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )


def axis_labels(axis: Axis, width: int = 340, *, signed: bool = False) -> Html:
    """The scale above a column of strips."""
    return tag(
        "svg",
        [
            tag(
                "text",
                _tick_label(t, signed),
                cls="tick",
                x=axis.at(t, width),
                y=12,
                text_anchor="start" if i == 0 else "end" if i == len(axis.ticks) - 1 else "middle",
            )
            for i, t in enumerate(axis.ticks)
        ],
        cls="strip",
        aria_hidden="true",
        viewBox=f"0 0 {width} 16",
        width=width,
        height=16,
    )


def share_bar(share: float | None, kind: str, label: str, width: int = 72) -> Html | None:
    """A bar of a share in a table cell; nothing for what was not measured."""
    if share is None:
        return None
    return tag(
        "svg",
        tag("title", label),
        tag("rect", cls="track", x=0, y=0, width=width, height=8, rx=2),
        tag("rect", cls=f"bar {kind}", x=0, y=0, width=round(share * width, 2), height=8, rx=2),
        cls="bar-cell",
        role="img",
        viewBox=f"0 0 {width} 8",
        width=width,
        height=8,
    )


def line_chart(title: str, curves: Sequence[Curve], width: int = 360, height: int = 190) -> Html:
    """Curves of one metric, one line a source; missing points are gaps in nothing: points are joined."""
    box = _Box.around(curves, width, height)
    rows = [_grid(box, y) for y in box.y_ticks()]
    return tag(
        "svg",
        tag("title", f"{title}: " + "; ".join(_said(c) for c in curves)),
        rows,
        [_x_label(box, x) for x in box.x_ticks()],
        [_line(box, c) for c in curves if c.points],
        cls="lines",
        role="img",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box:
    """Where data coordinates lie on the drawing."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    width: int
    height: int

    @staticmethod
    def around(curves: Sequence[Curve], width: int, height: int) -> "_Box":
        xs = [x for c in curves for x, _ in c.points] or [0.0, 1.0]
        ys = [y for c in curves for _, y in c.points] or [0.0, 1.0]
        low, high = min(ys), max(ys)
        if low >= 0.0 and high <= 1.0:  # shares read best on their whole scale
            low, high = 0.0, 1.0 if high > 0.25 else max(high * 1.15, 1e-9)
        elif low == high:
            low, high = low - 0.5, high + 0.5
        x_low, x_high = min(xs), max(xs)
        return _Box(
            x_low=x_low,
            x_high=x_high if x_high > x_low else x_low + 1,
            y_low=low,
            y_high=high,
            width=width,
            height=height,
        )

    def x(self, value: float) -> float:
        return 44 + (value - self.x_low) / (self.x_high - self.x_low) * (self.width - 54)

    def y(self, value: float) -> float:
        return (
            self.height
            - 24
            - (value - self.y_low) / (self.y_high - self.y_low) * (self.height - 36)
        )

    def y_ticks(self) -> list[float]:
        return round_ticks(self.y_low, self.y_high, 4)

    def x_ticks(self) -> list[float]:
        return sorted({float(round(t)) for t in round_ticks(self.x_low, self.x_high, 5)})


def round_ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers that divide a range."""
    raw = (high - low) / about
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(m * size for m in (1, 2, 2.5, 5, 10) if m * size >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def _tick(axis: Axis, value: float, width: int, height: int) -> Html:
    x = axis.at(value, width)
    return tag("line", cls="grid", x1=x, x2=x, y1=0, y2=height)


def _tick_label(value: float, signed: bool) -> str:
    text = f"{abs(value) * 100:.0f}"
    if not signed:
        return f"{text} %"
    return "0" if text == "0" else (MINUS if value < 0 else "+") + text


def _mark(axis: Axis, mark: Mark, width: int, y: float) -> Html:
    low, high, x = (axis.at(v, width) for v in (mark.low, mark.high, mark.value))
    return tag(
        "g",
        tag("line", cls="whisker", x1=low, x2=high, y1=y, y2=y),
        tag("line", cls="whisker", x1=low, x2=low, y1=y - 4, y2=y + 4),
        tag("line", cls="whisker", x1=high, x2=high, y1=y - 4, y2=y + 4),
        tag("circle", cls="dot", cx=x, cy=y, r=5),
        cls=f"mark {mark.kind}" + (" hollow" if mark.hollow else ""),
    )


def _grid(box: _Box, value: float) -> Html:
    y = box.y(value)
    return tag(
        "g",
        tag("line", cls="grid", x1=44, x2=box.width - 10, y1=y, y2=y),
        tag("text", number(value), cls="tick", x=38, y=y + 4, text_anchor="end"),
    )


def _x_label(box: _Box, value: float) -> Html:
    return tag(
        "text", number(value), cls="tick", x=box.x(value), y=box.height - 8, text_anchor="middle"
    )


def _line(box: _Box, curve: Curve) -> Html:
    style = f"{curve.source} {DASHES.get(curve.source, '')}"
    at = [(box.x(x), box.y(y)) for x, y in curve.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    x, y = at[-1]
    return tag(
        "g",
        tag("polyline", cls="line", points=path),
        tag("circle", cls="dot", cx=x, cy=y, r=3),
        cls=f"curve {style}",
    )


def _said(curve: Curve) -> str:
    if not curve.points:
        return f"{curve.source} no points"
    (x, first), (end, last) = curve.points[0], curve.points[-1]
    return f"{curve.source} from {number(first)} at {number(x)} to {number(last)} at {number(end)}"
