"""Everything that decides a training of a world model. Importable without torch."""

from dataclasses import dataclass, field
from enum import StrEnum

from dynaweb.axtree.lexicon import LexiconConfig
from dynaweb.errors import UserError
from dynaweb.lm.config import AdapterConfig, ModelConfig
from dynaweb.train.config import FitConfig
from dynaweb.world.training import WorldTrainConfig


class TunedForm(StrEnum):
    """What the model writes."""

    PATCH = "patch"
    """Ours: a structured change, which code applies."""
    FULL = "full"
    """WebWorld: the whole next page."""
    NL = "nl"
    """DynaWeb: reasoning, then the change in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningConfig:
    """One training.

    Example:
        TuningConfig(form=TunedForm.FULL, fit=FitConfig(epochs=1.0))
    """

    form: TunedForm = TunedForm.PATCH
    """Made of trajectories; ready rows say theirs themselves."""
    model: ModelConfig = field(default_factory=ModelConfig)
    """Shape of a model from scratch."""
    vocab_size: int = 2048
    """Entries of the tokenizer of a model from scratch, learnt from the data."""
    pointers: bool = True
    """A patch model from scratch points at names instead of spelling them (`prompts.pointers`)."""
    lexicon: LexiconConfig = field(default_factory=LexiconConfig)
    """How names are told from words when `pointers` is on."""
    adapters: AdapterConfig = field(default_factory=AdapterConfig)
    """LoRA; rank 0 trains all weights."""
    cutoff_tokens: int = 0
    """Rows that are longer are left out, counted and named, never cut; 0 for the model's context."""
    fit: FitConfig = field(default_factory=lambda: FitConfig(epochs=6.0, batch_tokens=2048))
    """The first stage: dynamics (WebWorld 3.5)."""
    stage2: FitConfig = field(default_factory=lambda: FitConfig(epochs=5.0, batch_tokens=2048))
    """The second: about 1,000 chain-of-thought rows, the last turn alone learnt (WebWorld 3.5, App. T9)."""
    data: WorldTrainConfig = field(default_factory=WorldTrainConfig)
    """Which steps of trajectories teach a patch model, and its judge."""
    held_out: float = 0.0
    """Of trajectories: share of the tasks that is kept back from training, in [0, 1); the same ones as
    `dynaweb world eval --hold-out` measures with this seed."""
    seed: int = 0
    """Of first weights, tokenizer, samples and what is held out; the order of the rows has `fit.seed`."""

    def __post_init__(self) -> None:
        if not 0 <= self.cutoff_tokens <= 10_000_000:
            raise UserError(
                f"cutoff_tokens {self.cutoff_tokens!r} is out of range: use 0 to 10000000"
            )
        if not 0.0 <= self.held_out < 1.0:
            raise UserError(f"held_out {self.held_out!r} is out of range: use 0 up to 1")
