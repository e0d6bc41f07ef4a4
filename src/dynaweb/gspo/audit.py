"""Are the dreams true? What a replay of dreams in the real world says of them.

The replay itself needs a browser and is passed in; here is only what it must report, and when that is an alarm:
few of the dreamed successes are real, or the policy succeeds more often in dreams than its same actions do from
the same starts for real (papers F15: a policy that has found a flaw of its world model).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dynaweb.batch.summary import Metrics
from dynaweb.errors import UserError
from dynaweb.gspo.config import AuditConfig
from dynaweb.records.trajectory import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """Dreams of one length, replayed."""

    depth: int
    """Actions dreamed."""
    dreams: int
    """Dreams whose end the judge knew and the real world showed."""
    dreamed_success: int
    """Those that the judge called a success."""
    real_success: int
    """Those whose actions were a success for real, whatever the judge said."""
    confirmed: int
    """Those that both called a success."""
    unmapped: int = 0
    """Dreamed successes that could not be replayed because an element has no counterpart; not confirmed."""

    def __post_init__(self) -> None:
        real = self.confirmed <= self.real_success <= self.dreams
        said = self.confirmed + self.unmapped <= self.dreamed_success <= self.dreams
        if not real or not said or self.depth < 1:
            raise UserError(f"audit counts do not add up: {self!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """One audit."""

    replayed: tuple[Replayed, ...]
    live_steps: int = 0
    """Real actions that the audit took; they count as live experience."""
    left_out: int = 0
    """Dreams of unknown end, and replays that the browser broke off; in no other number."""

    @property
    def dreams(self) -> int:
        """Dreams that count."""
        return sum(r.dreams for r in self.replayed)

    @property
    def precision(self) -> float | None:
        """Share of dreamed successes that were real; None when nothing was dreamed a success."""
        dreamed = sum(r.dreamed_success for r in self.replayed)
        return sum(r.confirmed for r in self.replayed) / dreamed if dreamed else None

    @property
    def dreamed_rate(self) -> float | None:
        """Share of dreams that the judge called a success; None without dreams."""
        return sum(r.dreamed_success for r in self.replayed) / self.dreams if self.dreams else None

    @property
    def real_rate(self) -> float | None:
        """Share of the same dreams whose actions were a success for real."""
        return sum(r.real_success for r in self.replayed) / self.dreams if self.dreams else None

    @property
    def gap(self) -> float | None:
        """Dreamed minus real success rate, in [-1, 1]; None without dreams."""
        dreamed, real = self.dreamed_rate, self.real_rate
        return dreamed - real if dreamed is not None and real is not None else None

    def alarms(self, config: AuditConfig) -> tuple[str, ...]:
        """What is wrong with the dreams, a clause each; empty when nothing is."""
        said = []
        if self.precision is not None and self.precision < config.bar:
            said.append(
                f"only {self.precision:.0%} of dreamed successes were real, the bar is {config.bar:.0%}"
            )
        if self.gap is not None and self.gap > config.gap:
            said.append(
                f"dreams succeed in {self.dreamed_rate:.0%} of {self.dreams}, their actions in the real world in {self.real_rate:.0%}: a gap of {self.gap:.0%}, the limit is {config.gap:.0%}"
            )
        return tuple(said)

    def metrics(self) -> Metrics:
        """Dreamed and real success, gap and precision in all; counts also by depth."""
        m: Metrics = {
            "audit/dreams": float(self.dreams),
            "audit/left_out": float(self.left_out),
            "audit/precision": self.precision,
            "audit/dreamed_rate": self.dreamed_rate,
            "audit/real_rate": self.real_rate,
            "audit/gap": self.gap,
            "audit/dreamed_success": float(sum(r.dreamed_success for r in self.replayed)),
            "audit/real_success": float(sum(r.real_success for r in self.replayed)),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPoint:
    """One audit of a run, for whoever sums the run up."""

    iteration: int
    """From 1."""
    dreams: int
    dreamed_success: int
    real_success: int
    gap: float | None
    """Dreamed minus real success rate, in [-1, 1]; None without dreams that count."""
    warned: bool
    """It was an alarm."""


def audits_of(rows: Sequence[Mapping[str, float | None]]) -> tuple[AuditPoint, ...]:
    """The audits of a run, in order, from its metrics."""
    return tuple(
        AuditPoint(
            iteration=round(row["iteration"] or 0),
            dreams=round(row["audit/dreams"] or 0),
            dreamed_success=round(row["audit/dreamed_success"] or 0),
            real_success=round(row["audit/real_success"] or 0),
            gap=row["audit/gap"],
            warned=bool(row["audit/warned"]),
        )
        for row in rows
        if "audit/dreams" in row
    )
