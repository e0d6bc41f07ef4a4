"""Are the dreams true? What a replay of dreams in the real world says of them.

The replay itself needs a browser and is passed in; here is only what it must report.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dynaweb.batch.summary import Metrics
from dynaweb.errors import UserError
from dynaweb.records.trajectory import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """Dreams of one length, replayed."""

    depth: int
    """Actions dreamed."""
    dreamed_success: int
    """Dreams that the judge called a success."""
    confirmed: int
    """Of these, how many really were."""
    unmapped: int = 0
    """Of these, how many could not be replayed because an element has no counterpart; not confirmed."""

    def __post_init__(self) -> None:
        if self.confirmed + self.unmapped > self.dreamed_success or self.depth < 1:
            raise UserError(f"audit counts do not add up: {self!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """One audit."""

    replayed: tuple[Replayed, ...]
    live_steps: int = 0
    """Real actions that the audit took; they count as live experience."""

    @property
    def precision(self) -> float | None:
        """Share of dreamed successes that were real; None when nothing was dreamed a success."""
        dreamed = sum(r.dreamed_success for r in self.replayed)
        return sum(r.confirmed for r in self.replayed) / dreamed if dreamed else None

    def metrics(self) -> Metrics:
        """Precision in all and by depth, with the counts behind it."""
        m: Metrics = {
            "audit/precision": self.precision,
            "audit/dreamed_success": float(sum(r.dreamed_success for r in self.replayed)),
            "audit/confirmed": float(sum(r.confirmed for r in self.replayed)),
            "audit/unmapped": float(sum(r.unmapped for r in self.replayed)),
            "audit/live_steps": float(self.live_steps),
        }
        for r in self.replayed:
            m[f"audit/dreamed_success_depth_{r.depth}"] = float(r.dreamed_success)
            m[f"audit/confirmed_depth_{r.depth}"] = float(r.confirmed)
        return m


Audit: TypeAlias = Callable[[int, Sequence[Trajectory]], AuditReport]
"""(iteration, its dreams) -> what they were worth. Must depend on its arguments alone."""
