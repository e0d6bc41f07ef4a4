"""Every dial of training in dreams, with the papers' values as presets. Importable without torch.

Two settings are on record and they disagree, so both are presets and neither is the default:
`gspo_paper` (arXiv 2507.18071 5.1: band 3e-4 / 4e-4, four mini-batches, no KL) and `dynaweb_reported`
(second-hand and unverified: learning rate 1e-6, band 0.2, eight attempts a group).
"""

from dataclasses import dataclass, field
from enum import StrEnum

from dynaweb.batch.advantage import AdvantageConfig
from dynaweb.batch.mix import MixConfig
from dynaweb.dream.config import DreamConfig
from dynaweb.dream.starts import StartsConfig
from dynaweb.errors import UserError
from dynaweb.gspo.limits import GateConfig, GuardConfig
from dynaweb.gspo.sources import ExpertConfig, LiveConfig
from dynaweb.train.config import OptimizerConfig

SMALL_ADAMW = OptimizerConfig(name="adamw", learning_rate=1e-4, weight_decay=0.0)
"""For models of a few million parameters."""

PAPER_ADAMW = OptimizerConfig(name="adamw", learning_rate=1e-6, weight_decay=0.0)
"""Learning rate of TRL's GSPO recipe, and second-hand of DynaWeb's; for models of billions."""


class Level(StrEnum):
    """What shares one importance ratio."""

    TRAJECTORY = "trajectory"
    """All policy tokens of an attempt (our reading of DynaWeb 3.3)."""
    STEP = "step"
    """The tokens of one reply (verl, SkyRL)."""
    TOKEN = "token"
    """Each token its own (GRPO)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipConfig:
    """How far a ratio may move before an attempt stops teaching."""

    low: float = 3e-4
    """The ratio may fall to 1 - low (GSPO 5.1)."""
    high: float = 4e-4
    """The ratio may rise to 1 + high (GSPO 5.1)."""
    reference_tokens: int | None = 1000
    """Length of answer the band is made for; shorter units get sqrt(reference / length) more. None: off."""

    def __post_init__(self) -> None:
        for name, value in (("low", self.low), ("high", self.high)):
            if not 0.0 < value <= 10.0:
                raise UserError(f"clip {name} {value!r} is out of range: use above 0, to 10")
        if self.reference_tokens is not None and self.reference_tokens < 1:
            raise UserError(
                f"clip reference_tokens {self.reference_tokens!r} must be 1 or more, or None"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DemonstrationsConfig:
    """A supervised loss on demonstrations beside that of the dreams (ours)."""

    weight: float = 0.0
    """Of a token's mean negative log-probability, added to every optimiser step; 0 for none."""
    batch_tokens: int = 2048
    """Positions of demonstrations, padding included, that one optimiser step reads."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1000.0:
            raise UserError(
                f"demonstrations weight {self.weight!r} is out of range: use 0.0 to 1000.0"
            )
        if self.batch_tokens < 1:
            raise UserError(f"demonstrations batch_tokens {self.batch_tokens!r} must be 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateConfig:
    """From a batch of scored attempts to new weights."""

    optimizer: OptimizerConfig = SMALL_ADAMW
    """AdamW, constant rate; Muon is for supervised training."""
    level: Level = Level.TRAJECTORY
    """What shares a ratio."""
    clip: ClipConfig = field(default_factory=ClipConfig)
    """Band of the ratio."""
    mini_batches: int = 4
    """Optimiser steps for one batch of attempts (GSPO 5.1); with 1 the ratio is always 1 and nothing clips."""
    epochs: int = 1
    """Passes over one batch of attempts."""
    warmup_steps: int = 20
    """Optimiser steps over which the rate rises to its full value; 0 for none. AdamW's first steps move every
    weight by the whole rate, however small its gradient: without this the first batch wrecks the policy (ours)."""
    token_budget: int = 8192
    """Most prompt and completion tokens in one forward pass; longer attempts go in parts, exactly."""
    kl: float = 0.0
    """Weight of the KL to the initial policy; 0 needs no second model (GSPO: 0)."""
    demonstrations: DemonstrationsConfig = field(default_factory=DemonstrationsConfig)
    """What keeps the policy able to do what it was shown."""
    experts: ExpertConfig = field(default_factory=ExpertConfig)
    """What becomes of experts' tokens."""
    temperature: float = 1.0
    """Of the policy's distribution, in sampling and in the loss alike."""
    sampler_gap_limit: float = 0.05
    """Largest mean |log-probability by sampler - by trainer| of a token, in nats, before the run stops.

    About 1e-6 in fp32; an engine in half precision gives some 3e-3. More means other weights or tokens.
    """
    max_staleness: int = 0
    """Updates that a dream's sampler may lag behind the policy in training, as an engine does that dreams while it
    trains. A dream that lags has its ratio taken against the sampler's own log-probabilities; one that lags by more
    stops the run."""
    guard: GuardConfig = field(default_factory=GuardConfig)
    """When an update counts as broken, and what follows."""

    def __post_init__(self) -> None:
        bounds = {
            "mini_batches": (self.mini_batches, 1, 1024),
            "epochs": (self.epochs, 1, 100),
            "warmup_steps": (self.warmup_steps, 0, 10**6),
            "token_budget": (self.token_budget, 1, 10**9),
            "kl": (self.kl, 0.0, 10.0),
            "temperature": (self.temperature, 0.05, 5.0),
            "sampler_gap_limit": (self.sampler_gap_limit, 1e-6, 100.0),
            "max_staleness": (self.max_staleness, 0, 1000),
        }
        for name, (value, low, high) in bounds.items():
            if not low <= value <= high:
                raise UserError(f"update {name} {value!r} is out of range: use {low} to {high}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConfig:
    """How often dreams are replayed for real, and what follows."""

    every: int = 10
    """Iterations between audits; 0 for never."""
    dreams: int = 16
    """Dreams of the latest iteration that are replayed."""
    bar: float = 0.5
    """Precision of dreamed success below which the run warns."""
    gap: float = 0.25
    """Dreamed minus real success rate of the same dreams above which the run warns, in [0, 1] (papers F15)."""
    stop: bool = False
    """End the run when the precision is below the bar, or the gap above its own."""

    def __post_init__(self) -> None:
        if self.every < 0 or self.dreams < 1:
            raise UserError(
                f"audit every {self.every!r} must be 0 or more and dreams {self.dreams!r} 1 or more"
            )
        for name in ("bar", "gap"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UserError(f"audit {name} {getattr(self, name)!r} is out of range: use 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class GspoConfig:
    """A whole training run in dreams."""

    iterations: int = 50
    """Batches of dreams, each followed by an update."""
    groups: int = 8
    """Groups that teach, wanted in each batch."""
    resample_rounds: int = 2
    """Times that groups without variance are replaced by fresh ones before the batch is taken as it is."""
    max_new_tokens: int = 48
    """Longest reply of the policy, in tokens."""
    seed: int = 0
    """Of starts, dreams, order of members and of mini-batches."""
    checkpoint_every: int = 1
    """Iterations between checkpoints; a killed run repeats at most so many."""
    starts: StartsConfig = field(default_factory=StartsConfig)
    """Where dreams begin."""
    dream: DreamConfig = field(default_factory=DreamConfig)
    """How long dreams last."""
    mix: MixConfig = field(default_factory=MixConfig)
    """Dreams and experts in a group."""
    live: LiveConfig = field(default_factory=LiveConfig)
    """Groups in the real browser."""
    advantage: AdvantageConfig = field(default_factory=AdvantageConfig)
    """Credit inside a group."""
    update: UpdateConfig = field(default_factory=UpdateConfig)
    """Loss and optimiser."""
    audit: AuditConfig = field(default_factory=AuditConfig)
    """Honesty of the dreams."""
    gate: GateConfig = field(default_factory=GateConfig)
    """Which world models may be dreamt in at all."""

    def __post_init__(self) -> None:
        low = {
            "iterations": self.iterations,
            "groups": self.groups,
            "max_new_tokens": self.max_new_tokens,
        }
        for name, value in (low | {"checkpoint_every": self.checkpoint_every}).items():
            if value < 1:
                raise UserError(f"gspo {name} {value!r} is out of range: use 1 or more")
        if self.resample_rounds < 0:
            raise UserError(f"gspo resample_rounds {self.resample_rounds!r} must be 0 or more")


def gspo_paper() -> GspoConfig:
    """GSPO's own values: narrow unscaled band, deviation in the advantage, no experts."""
    return GspoConfig(
        mix=MixConfig(expert_share=0.0),
        advantage=AdvantageConfig(divide_by_std=True),
        update=UpdateConfig(optimizer=PAPER_ADAMW, clip=ClipConfig(reference_tokens=None)),
    )


def dynaweb_reported() -> GspoConfig:
    """What is reported of DynaWeb, unverified except for the expert share and dreams of five steps."""
    return GspoConfig(
        mix=MixConfig(group_size=8, expert_share=0.5),
        advantage=AdvantageConfig(divide_by_std=True),
        update=UpdateConfig(
            optimizer=PAPER_ADAMW,
            clip=ClipConfig(low=0.2, high=0.2, reference_tokens=None),
            temperature=0.7,
        ),
    )


PRESETS = {"gspo-paper": gspo_paper, "dynaweb-reported": dynaweb_reported}
"""Name on the command line -> configuration."""
