"""The numbers of a measurement in words."""

from collections.abc import Mapping
from typing import Literal

from dynaweb.report.words import (
    MINUS,
    NONE,
    THIN,
    duration,
    interval,
    number,
    percent,
    points,
    points_interval,
)
from dynaweb.report.worlds.data import Cell

LABELS: Mapping[str, str] = {
    "local_exact": "Part changed: exact page",
    "local_determined": "Part changed, outcome on the page: exact page",
    "local_f1": "Part changed: F1 of the change",
    "full_exact": "Page replaced: exact page",
    "full_structure": "Page replaced: F1 of elements",
    "full_title": "Page replaced: title",
    "full_url": "Page replaced: address",
    "full_judged": "Page replaced: judge, 0 to 4",
    "full_wrong": "Page replaced: completely wrong",
    "unchanged_exact": "Nothing changed: said so",
    "by_rules_exact": "Rules made the whole change: nothing added",
    "settled_exact": "A rule settled it: right",
    "ended_said": "Episode ended: said so",
    "ended_early": "Episode went on: said to end",
    "kind_right": "Nothing, part or whole page: told right",
    "invalid": "Unusable answers",
    "repaired": "Usable after a retry, mending or fallback only",
    "duplicate_ids": "Pages with an id twice",
    "id_drift": "Untouched elements with another id",
    "blocked_invented": "Refused by the browser, nothing changed: something invented",
    "seconds": "Seconds a prediction",
}
"""Field of `StepScores` -> what it says, in the order of the page."""

HEADLINES = (
    "local_exact",
    "local_f1",
    "full_structure",
    "full_judged",
    "unchanged_exact",
    "ended_said",
    "invalid",
)

GROUP_WORDS: Mapping[str, str] = {
    "behaviour": "behaviour",
    "site": "site",
    "action": "action",
    "task": "task",
}

_PLAIN = frozenset({"full_judged", "seconds"})
"""Not shares."""


def mean_words(cell: Cell, of: Literal["mean", "copy"] = "mean") -> str:
    """The mean with its interval, or copy's mean."""
    if of == "copy":
        return _value(cell.metric, cell.copy)
    said = _value(cell.metric, cell.mean)
    if cell.low is None or cell.high is None:
        return said
    if cell.metric in _PLAIN:
        return f"{said} ({_value(cell.metric, cell.low)} to {_value(cell.metric, cell.high)})"
    return f"{said} ({interval(cell.low, cell.high)})"


def gain_words(cell: Cell) -> str:
    """The gain over copy with its interval; shares in percentage points."""
    if cell.gain is None:
        return NONE
    plain = cell.metric in _PLAIN
    said = _signed(cell.gain) if plain else points(cell.gain)
    if cell.gain_low is None or cell.gain_high is None:
        return said
    low, high = cell.gain_low, cell.gain_high
    around = f"{_signed(low)} to {_signed(high)}" if plain else points_interval(low, high)
    return f"{said} ({around})"


def _signed(value: float) -> str:
    return f"{MINUS if value < 0 else '+'}{abs(value):.2f}"


def _value(metric: str, value: float | None) -> str:
    if metric == "seconds" and value is not None:
        return duration(value) if value >= 1 else f"{number(value * 1000)}{THIN}ms"
    return number(value) if metric in _PLAIN else percent(value, 1)
