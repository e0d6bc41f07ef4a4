"""What the rules make of a step."""

from dataclasses import dataclass

from dynaweb.contracts import Prediction, PredictionStatus
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """A step after the rules."""

    page: Observation
    """The page with what the rules know of the action applied."""
    settled: bool
    """Nothing else can change: this is the next page."""
    rule: str
    """Which rule spoke; empty when none did."""
    fault: Fault | None = None
    terminal: bool = False
    touched: tuple[tuple[str, str], ...] = ()
    """(bid, attribute) pairs that the rule set or unset."""


def settled_prediction(ruled: Ruled) -> Prediction:
    """A settled step as what a world model answers."""
    return Prediction(
        observation=ruled.page,
        delta=None,
        status=PredictionStatus.OK,
        confidence=1.0,
        terminal=ruled.terminal,
        fault=ruled.fault,
        by_rule=True,
    )
