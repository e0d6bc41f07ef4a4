"""How a model is trained. Importable without torch."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dynaweb.errors import UserError

OptimizerName: TypeAlias = Literal["adamw", "muon"]
Normalise: TypeAlias = Literal["token", "example"]
Schedule: TypeAlias = Literal["trapezoid", "cosine"]
Precision: TypeAlias = Literal["fp32", "bf16"]

LENGTHS = ("steps", "epochs", "max_seconds")
"""Fields of `FitConfig` that say how long; exactly one of them does."""


def _check(
    name: str,
    value: float,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
) -> None:
    bad = not math.isfinite(value)
    bad = bad or (above is not None and value <= above)
    bad = bad or (at_least is not None and value < at_least)
    bad = bad or (below is not None and value >= below)
    if bad:
        bounds = [
            f"{w} {b}"
            for w, b in (("above", above), ("at least", at_least), ("below", below))
            if b is not None
        ]
        raise UserError(f"{name} is {value!r}: use a finite number {' and '.join(bounds)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerConfig:
    """How gradients become steps."""

    name: OptimizerName = "muon"
    """`muon` orthogonalises the updates of the hidden matrices and uses AdamW for the rest; `adamw` everywhere."""
    learning_rate: float = 3e-3
    """Peak rate of AdamW, above 0."""
    muon_learning_rate: float = 2e-2
    """Peak rate of Muon, above 0."""
    weight_decay: float = 0.01
    """Decoupled decay, at least 0; matrices only."""
    beta1: float = 0.9
    """AdamW's first moment, in [0, 1)."""
    beta2: float = 0.98
    """AdamW's second moment, in [0, 1)."""
    muon_momentum: float = 0.95
    """Muon's momentum, in [0, 1)."""
    clip_norm: float = 1.0
    """Gradients longer than this (all parameters together) are shortened to it; above 0."""

    def __post_init__(self) -> None:
        if self.name not in ("adamw", "muon"):
            raise UserError(f"optimizer is {self.name!r}: use 'adamw' or 'muon'")
        for name in ("learning_rate", "muon_learning_rate", "clip_norm"):
            _check(name, getattr(self, name), above=0.0)
        _check("weight_decay", self.weight_decay, at_least=0.0)
        for name in ("beta1", "beta2", "muon_momentum"):
            _check(name, getattr(self, name), at_least=0.0, below=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitConfig:
    """One supervised training. Exactly one of `steps`, `epochs` and `max_seconds` says how long.

    Example:
        FitConfig(epochs=3.0, seed=1)
    """

    steps: int | None = None
    """Optimiser steps, at least 0."""
    epochs: float | None = None
    """Passes over the examples, above 0."""
    max_seconds: float | None = None
    """Wall clock of training, above 0. The steps that this came to are in the result, and `steps` set to them repeats the training."""
    batch_tokens: int = 4096
    """Positions (prompt, completion and padding) in one step, at least 1; a longer example is a step of its own."""
    micro_tokens: int = 16_384
    """Positions in one forward pass, at least 1: bounds memory, changes nothing else."""
    warmup_steps: int = 20
    """Steps over which the rate rises to its peak, at least 0."""
    warmup_fraction: float = 0.0
    """The same as a share of all steps, in [0, 0.9]; above 0 it takes the place of `warmup_steps`."""
    schedule: Schedule = "trapezoid"
    """After the rise: `trapezoid` stays up and then falls in a line; `cosine` falls along half a wave, all the way."""
    decay_fraction: float = 0.5
    """Of a trapezoid: last part of the training over which the rate falls to zero, in [0, 0.9]; 0 keeps it up."""
    normalise: Normalise = "token"
    """What counts equally in a step: every completion token, or every example."""
    precision: Precision = "fp32"
    """Of the arithmetic; `bf16` needs a GPU. Weights and optimiser are in fp32 either way."""
    recompute: bool = False
    """Recompute activations instead of keeping them: far less memory, about a third more time, the same result."""
    optimizer: OptimizerConfig = OptimizerConfig()
    """How gradients become steps."""
    seed: int = 0
    """Of the order of the examples."""
    checkpoint_seconds: float = 30.0
    """Wall clock between checkpoints, above 0; the last step always has one."""
    log_every: int = 10
    """Steps between rows of metrics, at least 1."""

    def __post_init__(self) -> None:
        given = [n for n in LENGTHS if getattr(self, n) is not None]
        if len(given) != 1:
            raise UserError(
                f"training length needs exactly one of {', '.join(LENGTHS)}, the others none; got {' and '.join(given) or 'none'}"
            )
        if self.steps is not None and self.steps < 0:
            raise UserError(f"steps is {self.steps!r}: use at least 0")
        _check(given[0], float(getattr(self, given[0])), at_least=0.0)
        if self.steps is None:
            _check(given[0], float(getattr(self, given[0])), above=0.0)
        for name in ("batch_tokens", "micro_tokens", "log_every"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)!r}: use at least 1")
        if self.warmup_steps < 0:
            raise UserError(f"warmup_steps is {self.warmup_steps!r}: use at least 0")
        for name in ("decay_fraction", "warmup_fraction"):
            _check(name, getattr(self, name), at_least=0.0)
            if getattr(self, name) > 0.9:
                raise UserError(f"{name} is {getattr(self, name)!r}: use at most 0.9")
        self._check_words()
        _check("checkpoint_seconds", self.checkpoint_seconds, above=0.0)

    def _check_words(self) -> None:
        choices = {
            "normalise": ("token", "example"),
            "schedule": ("trapezoid", "cosine"),
            "precision": ("fp32", "bf16"),
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise UserError(
                    f"{name} is {getattr(self, name)!r}: use {known[0]!r} or {known[1]!r}"
                )
        if self.max_seconds is not None and (self.warmup_fraction or self.schedule == "cosine"):
            raise UserError(
                "warmup_fraction and schedule 'cosine' need to know how many steps there are: give steps or epochs, not max_seconds"
            )
