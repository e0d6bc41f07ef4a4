"""How an evaluation is analysed. Importable without numpy and scipy."""

from dataclasses import dataclass

from dynaweb.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsConfig:
    """How differences are judged; part of the plan, so fixed before the first episode."""

    confidence: float = 0.95
    """Of every interval, in (0, 1)."""
    resamples: int = 10_000
    """Bootstrap draws, 100 or more."""
    seed: int = 0
    """Of the bootstrap's draws."""

    def __post_init__(self) -> None:
        if not 0.0 < self.confidence < 1.0:
            raise UserError(
                f"confidence {self.confidence!r} is out of range: use a share such as 0.95"
            )
        if self.resamples < 100:
            raise UserError(f"resamples {self.resamples!r} is out of range: use 100 or more")
