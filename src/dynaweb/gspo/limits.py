"""What a run does not put up with: updates that break, and world models that know nothing. Without torch."""

from dataclasses import dataclass
from enum import StrEnum

from dynaweb.errors import UserError

LARGEST_RATIO = 22_026.0
"""exp(10): the loss bounds the log of a ratio there (`gspo.loss`), so a higher limit would never be met."""


class OnTrouble(StrEnum):
    """What follows when an update breaks."""

    STOP = "stop"
    """The run ends; its last checkpoint is whole."""
    SKIP = "skip"
    """The update is taken back as if it had never been, counted, and the run goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardConfig:
    """When an update counts as broken, and what follows (ours). Anything that is not finite always does."""

    on_trouble: OnTrouble = OnTrouble.STOP
    """`stop` ends the run; `skip` takes the update back, which keeps a copy of weights and optimiser in memory."""
    most_skipped: int = 3
    """Updates taken back in a row after which the run ends all the same."""
    ratio_limit: float = 1e4
    """Largest importance ratio of a unit, above 1 and below exp(10); the clip does not hold back failures."""
    gradient_limit: float = 1e4
    """Largest norm of an optimiser step's gradient, before it is clipped."""
    loss_limit: float = 1e3
    """Largest absolute loss of an optimiser step."""
    drift_limit: float = 3.0
    """Most nats a token by which the finished update may make the attempts it read less likely, on average over
    them: 0.01 to 0.2 in sound runs; a policy that has collapsed loses the log of its vocabulary's size."""

    def __post_init__(self) -> None:
        if self.most_skipped < 1:
            raise UserError(f"guard most_skipped {self.most_skipped!r} must be 1 or more")
        if not 1.0 < self.ratio_limit <= LARGEST_RATIO:
            raise UserError(
                f"guard ratio_limit {self.ratio_limit!r} is out of range: use above 1 to {LARGEST_RATIO:.0f}"
            )
        for name in ("gradient_limit", "loss_limit", "drift_limit"):
            if not getattr(self, name) > 0.0:
                raise UserError(f"guard {name} {getattr(self, name)!r} must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    """Whether training may begin in a world model (ours): it must know more than rules and copying."""

    closed: bool = True
    """Refuse a world model that is no better than rules and copying. false trains in it all the same, and says so."""
    confidence: float = 0.95
    """Of the interval of the gain over rules and copying; its lower end must lie above 0."""

    def __post_init__(self) -> None:
        if not 0.5 <= self.confidence < 1.0:
            raise UserError(
                f"gate confidence {self.confidence!r} is out of range: use 0.5 to below 1"
            )
