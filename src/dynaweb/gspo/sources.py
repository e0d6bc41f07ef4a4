"""Dials of the two sources beside dreams: what experts' tokens are worth, and attempts in the real browser."""

import math
from dataclasses import dataclass

from dynaweb.batch.expert import ExpertMode
from dynaweb.batch.tokens import Objective
from dynaweb.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertConfig:
    """How experts teach; which share of a group they are is `gspo.mix.expert_share`."""

    mode: ExpertMode = ExpertMode.RECOMPUTE
    """`recompute` members with a ratio (DynaWeb 4.1); `luffy` members with a shaped loss; `sft` a likelihood term beside
    the dreams'; `hard_only` a likelihood step where all of the policy's own attempts failed."""
    luffy_gamma: float = 0.1
    """Of the shaping p / (p + gamma), above 0 (LUFFY: 0.1); the gradient is largest at a probability of gamma."""
    mu_peak: float = 0.1
    """For `sft`: weight of the likelihood after its warm-up, in [0, 1]; the dreams' loss weighs the rest (Trinity's
    CHORD: 0.1)."""
    mu_valley: float = 0.1
    """For `sft`: weight after the decay, in [0, 1]."""
    mu_warmup_steps: int = 0
    """For `sft`: optimiser steps over which the weight rises from 0 to its peak."""
    mu_decay_steps: int = 0
    """For `sft`: optimiser steps over which it then falls to the valley, along a cosine; 0 falls at once."""
    phi: bool = True
    """For `sft`: weigh every token by p (1 - p), so that what is known and what is out of reach count little (CHORD)."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.luffy_gamma) and self.luffy_gamma > 0.0):
            raise UserError(f"experts luffy_gamma {self.luffy_gamma!r} must be above 0")
        for name in ("mu_peak", "mu_valley"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UserError(
                    f"experts {name} {getattr(self, name)!r} is out of range: use 0 to 1"
                )
        for name in ("mu_warmup_steps", "mu_decay_steps"):
            if getattr(self, name) < 0:
                raise UserError(f"experts {name} {getattr(self, name)!r} must be 0 or more")

    @property
    def objective(self) -> Objective:
        """Which loss reads experts that are members of a group."""
        return Objective.SHAPED if self.mode is ExpertMode.LUFFY else Objective.RATIO

    def mu(self, step: int) -> float:
        """Weight of the likelihood term at an optimiser step counted from 0; 0 in the other modes.

        CHORD's schedule: a line to the peak, then half a cosine to the valley.
        """
        if self.mode is not ExpertMode.SFT:
            return 0.0
        if step < self.mu_warmup_steps:
            return self.mu_peak * step / self.mu_warmup_steps
        after = step - self.mu_warmup_steps
        if after >= self.mu_decay_steps:
            return self.mu_valley
        fall = 0.5 * (1.0 + math.cos(math.pi * after / self.mu_decay_steps))
        return self.mu_valley + (self.mu_peak - self.mu_valley) * fall


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveConfig:
    """Groups whose fresh attempts are made in the real browser instead of dreamt (DynaWeb 1: the third source)."""

    share: float = 0.0
    """Share of groups that are live, in [0, 1]; 1 is live on-policy GSPO and needs no world model."""
    tasks: tuple[str, ...] = ()
    """Tasks that may be attempted there; empty for all. Groups of the others are dreamt."""
    budget: int | None = None
    """Real actions that live groups may take in the whole run; what is begun is finished. Then groups are dreamt, or
    the run ends when all are live. None: no limit."""
    pages: int = 20
    """First pages of each live task that are opened to begin from, where experts and attempts show none."""
    max_steps: int = 5
    """Actions before a live attempt is a failure; as long as a dream, so that the two compare."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise UserError(f"live share {self.share!r} is out of range: use 0 to 1")
        if self.budget is not None and self.budget < 0:
            raise UserError(f"live budget {self.budget!r} must be 0 or more, or none")
        if not 0 <= self.pages <= 5000:
            raise UserError(f"live pages {self.pages!r} is out of range: use 0 to 5000")
        if not 1 <= self.max_steps <= 100:
            raise UserError(f"live max_steps {self.max_steps!r} is out of range: use 1 to 100")

    def allows(self, task: str) -> bool:
        """Groups of this task may be live."""
        return not self.tasks or task in self.tasks

    def spent(self, steps: int) -> bool:
        """No further live group may begin after so many real actions."""
        return self.budget is not None and steps >= self.budget
