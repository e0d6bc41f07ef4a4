"""What the optimiser steps of one update saw, split by where an attempt comes from, and whether it is sound."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from dynaweb.batch.source import Source
from dynaweb.batch.summary import Metrics, mean_or_none
from dynaweb.gspo.batch import Scored
from dynaweb.gspo.guard import Trouble, require_sound
from dynaweb.gspo.limits import GuardConfig

RATIO_IS_ONE = 1e-6
"""Largest |log ratio| that is still rounding: nothing was off-policy, so the clip had no part in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenUnit:
    """One importance ratio in one forward pass."""

    source: Source
    positive: bool
    """Its attempt's advantage is above 0."""
    ratio: float
    clipped: bool


@dataclass(slots=True)
class Tally:
    """Counts of one update; summed up by `metrics`."""

    loss: float = 0.0
    kl: float = 0.0
    steps: int = 0
    sampler_gap: float | None = None
    shown: list[float] = field(default_factory=list)
    """Loss on demonstrations, one entry an optimiser step."""
    imitated: list[float] = field(default_factory=list)
    """Loss on experts that are imitated, before its weight, one entry an optimiser step that had some."""
    mu: list[float] = field(default_factory=list)
    """That weight."""
    shaped: list[float] = field(default_factory=list)
    """Probability of each token of experts whose loss is shaped."""
    surprise: dict[Source, list[float]] = field(default_factory=dict)
    """Source -> negative log-probability of each token under pi_old, in nats."""
    grad_norms: list[float] = field(default_factory=list)
    units: list[SeenUnit] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Of all units, in the order they were seen."""
        return [u.ratio for u in self.units]

    def note(
        self, attempts: Sequence[Scored], ratio: list[float], clip: list[bool], owner: list[int]
    ) -> None:
        """Count the units of one forward pass."""
        for r, was_clipped, n in zip(ratio, clip, owner, strict=True):
            attempt = attempts[n].attempt
            seen = SeenUnit(
                source=attempt.source,
                positive=attempt.advantage > 0.0,
                ratio=r,
                clipped=was_clipped,
            )
            self.units.append(seen)

    def note_old(self, scored: Sequence[Scored]) -> None:
        """Count what the policy thought of the attempts before the update."""
        for s in scored:
            mine = self.surprise.setdefault(s.attempt.source, [])
            mine += (-s.old_logp_T).tolist() * s.attempt.copies

    def said(self) -> str:
        """What a rank counted of one step, for `heard`."""
        units = [(u.source, u.positive, u.ratio, u.clipped) for u in self.units]
        lists = (self.shown, self.imitated, self.mu, self.shaped)
        return json.dumps([self.loss, self.kl, *lists, units])

    @classmethod
    def heard(cls, text: str) -> "Tally":
        """What `said` came from."""
        loss, kl, shown, imitated, mu, shaped, units = json.loads(text)
        seen = [
            SeenUnit(source=Source(source), positive=positive, ratio=ratio, clipped=clipped)
            for source, positive, ratio, clipped in units
        ]
        return cls(
            loss=loss,
            kl=kl,
            shown=shown,
            imitated=imitated,
            mu=mu,
            shaped=shaped,
            units=seen,
        )

    def add(self, parts: Sequence["Tally"]) -> None:
        """Count one step of which every rank counted a part: means are of the whole step already, so their parts add up."""
        for part in parts:
            self.loss += part.loss
            self.kl += part.kl
            self.shaped += part.shaped
            self.units += part.units
        self.shown += [sum(values) for values in zip(*(p.shown for p in parts), strict=True)]
        self.imitated += [sum(values) for values in zip(*(p.imitated for p in parts), strict=True)]
        self.mu += parts[0].mu

    @contextmanager
    def watched(self, limits: GuardConfig) -> Iterator[None]:
        """Loss and ratios that the block adds must be sound, before its gradients are applied.

        Raises:
            BrokenUpdateError: they are not.
        """
        loss, known = self.loss, len(self.units)
        yield
        require_sound(Trouble.RATIO, self.ratios[known:], limits.ratio_limit)
        require_sound(Trouble.LOSS, [self.loss - loss], limits.loss_limit)

    def metrics(self) -> Metrics:
        """Means over the update's optimiser steps and units."""
        m: Metrics = {
            "update/loss": self.loss / self.steps if self.steps else None,
            "update/kl": self.kl / self.steps if self.steps else None,
            "update/demonstrations_loss": mean_or_none(self.shown),
            "update/imitation_loss": mean_or_none(self.imitated),
            "update/imitation_weight": mean_or_none(self.mu),
            "update/shaped_probability": mean_or_none(self.shaped),
            "update/sampler_gap": self.sampler_gap,
            "update/optimizer_steps": float(self.steps),
            "update/grad_norm": mean_or_none(self.grad_norms),
            "update/ratio_is_one": _are_one(self.units),
        }
        m |= {f"update/{name}": value for name, value in _of(self.units).items()}
        for positive, sign in ((True, "positive"), (False, "negative")):
            signed = [u for u in self.units if u.positive is positive]
            m[f"update/clip_fraction_{sign}"] = _of(signed)["clip_fraction"]
        for source in Source:
            mine = [u for u in self.units if u.source is source]
            m |= {f"{source.value}/{name}": value for name, value in _of(mine).items()}
            m[f"{source.value}/surprise"] = mean_or_none(self.surprise.get(source, []))
        return m


def _of(units: Sequence[SeenUnit]) -> Metrics:
    return {
        "ratio_mean": mean_or_none([u.ratio for u in units]),
        "abs_log_ratio_mean": mean_or_none([abs(math.log(u.ratio)) for u in units]),
        "clip_fraction": mean_or_none([float(u.clipped) for u in units]),
    }


def _are_one(units: Sequence[SeenUnit]) -> float | None:
    if not units:
        return None
    return float(max(abs(math.log(u.ratio)) for u in units) < RATIO_IS_ONE)
