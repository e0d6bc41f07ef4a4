"""The gate before the dreams: nothing is trained in a world model that knows no more than the rules in front of it.

Such a model teaches its own mistakes (papers F15), and every number of the run would look well while it does.
It is asked about held-out real steps that rules do not settle: those after which the page changed, or did not, or the
episode ended. The measure is what anyone has without a model: the rules, and a page that is otherwise copied and never
ends. Where episodes go on it may not be worse than that, or one that calls every step the last would pass.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from dynaweb.bench.determined import Tasks
from dynaweb.bench.fidelity import compare, fidelity
from dynaweb.bench.results import FidelityReport
from dynaweb.contracts import WorldModel
from dynaweb.errors import UserError
from dynaweb.evaluate.statistics import shares_difference
from dynaweb.gspo.limits import GateConfig
from dynaweb.records.trajectory import Trajectory

log = logging.getLogger(__name__)

OPEN = "--set gspo.gate.closed=false"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A world model beside rules and copying, on the same steps."""

    right: int
    """Steps imagined rightly: the page exactly, or that the episode ends."""
    ruled: int
    """Those that rules and copying have right."""
    n: int
    confidence: float

    @property
    def interval(self) -> tuple[float, float]:
        """Of the difference of the two shares, in [-1, 1] (Newcombe)."""
        return shares_difference((self.right, self.n), (self.ruled, self.n), self.confidence)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.right} of {self.n} rightly, rules and copying {self.ruled}: a gain of {(self.right - self.ruled) / self.n:+.0%} ({self.confidence:.0%} interval {low:+.0%} to {high:+.0%})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What a world model knows beyond rules and copying, on held-out steps that rules do not settle."""

    every: Beside
    """All of them."""
    on: Beside
    """Those after which the episode went on."""

    @property
    def n(self) -> int:
        """Steps that count."""
        return self.every.n

    @property
    def spoils(self) -> bool:
        """Where episodes go on it is worse than rules and copying, surely."""
        return self.on.n > 0 and self.on.interval[1] < 0.0

    @property
    def proved(self) -> bool:
        """It knows something, surely, and spoils nothing."""
        return self.n > 0 and self.every.interval[0] > 0.0 and not self.spoils

    def __str__(self) -> str:
        if not self.n:
            return "no held-out step was one that rules do not settle, so nothing says that the world model is better than rules and copying"
        said = f"of held-out steps that rules do not settle the world model imagines {self.every}"
        return f"{said}; of those that go on {self.on}" if self.spoils else said


def gain_of(report: FidelityReport, confidence: float) -> Gain:
    """What a fidelity table shows."""
    total = report.total
    by_rules = total.by_rules + total.unchanged
    changed = total.local + total.full_page
    going = by_rules + changed
    copied = by_rules.n + total.rules_only.hits
    every = going + total.ended
    return Gain(
        every=Beside(right=every.hits, ruled=copied, n=every.n, confidence=confidence),
        on=Beside(right=going.hits, ruled=copied, n=going.n, confidence=confidence),
    )


def measured(
    world: WorldModel, held_out: Sequence[Trajectory], confidence: float, *, show_goal: bool = False
) -> Gain:
    """The gain on real attempts that the model was not trained on, where no table is at hand."""
    compared = compare(world, held_out, Tasks(strings=frozenset()), show_goal=show_goal)
    return gain_of(fidelity(compared, world_model=world.version), confidence)


LONGER = "train the world model for longer or on more steps"


def require_knowledge(gain: Gain, gate: GateConfig, mend: str = LONGER) -> None:
    """Let only a world model through that is better than rules and copying; an open gate says aloud what it lets through.

    Args:
        gain: what was measured.
        gate: closed or open.
        mend: what to do where it is not better.

    Raises:
        UserError: it is not, or nobody can tell; with the numbers, and what to do.
    """
    if gain.proved:
        return
    if gate.closed:
        raise UserError(
            f"no training in these dreams: {gain}{_bar(gain)}: {mend}, or dream in it all the same with {OPEN}"
        )
    log.warning("dreaming in a world model that knows no better, as configured: %s", gain)


def _bar(gain: Gain) -> str:
    if not gain.n:
        return ""
    return (
        "; its upper end must not lie below 0"
        if gain.spoils
        else "; its lower end must lie above 0"
    )
