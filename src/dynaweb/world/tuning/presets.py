"""Published trainings of world models as settings, each value with its source. Importable without torch.

A batch of N packed sequences of C tokens is N * C positions a step here: rows are put together by like length within
the budget, which leaves little padding, instead of being joined end to end.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dynaweb.errors import UserError
from dynaweb.train.config import FitConfig, OptimizerConfig
from dynaweb.world.examples import ExamplesConfig
from dynaweb.world.training import WorldTrainConfig
from dynaweb.world.tuning.settings import TunedForm, TuningConfig

OURS = "ours"
UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Settings, and where they come from."""

    about: str
    """What it reproduces, for people."""
    config: TuningConfig
    sources: Mapping[str, str]
    """Dotted setting -> source; ours where it is not named."""

    def source(self, key: str) -> str:
        """Where a value comes from."""
        return self.sources.get(key, OURS)


T9 = "WebWorld App. T9"
FACTORY = f"{UNVERIFIED}: not in the paper; what LLaMA-Factory does when it is not told"


def small() -> Preset:
    """What the recipes train, on trajectories."""
    examples = ExamplesConfig(plain_cap=60, most_shown=24, rare=120, past_actions=2)
    data = WorldTrainConfig(examples=examples, renamed_copies=0, judge_fraction=0.5)
    return Preset(
        about="a model of a few million parameters from scratch, as the study trains it; for 2 CPU cores",
        config=TuningConfig(data=data),
        sources={},
    )


def finetune() -> Preset:
    """A pretrained model on little data."""
    fit = FitConfig(
        epochs=2.0,
        batch_tokens=32_768,
        micro_tokens=8192,
        schedule="cosine",
        warmup_fraction=0.1,
        optimizer=_adamw(2e-5),
    )
    return Preset(
        about="a pretrained model, whole or adapters: WebWorld's rates with smaller steps, in fp32",
        config=TuningConfig(
            form=TunedForm.FULL, fit=fit, stage2=_with_rate(fit, 8e-6, epochs=5.0, share=0.5)
        ),
        sources={
            "fit.optimizer.learning_rate": T9,
            "fit.schedule": T9,
            "fit.warmup_fraction": T9,
            "stage2.optimizer.learning_rate": T9,
            "stage2.epochs": T9,
            "stage2.schedule": T9,
            "stage2.warmup_fraction": T9,
        },
    )


def webworld() -> Preset:
    """WebWorld's two stages."""
    cutoff = 20_000
    fit = FitConfig(
        epochs=1.0,
        batch_tokens=64 * cutoff,
        micro_tokens=2 * cutoff,
        schedule="cosine",
        warmup_fraction=0.1,
        precision="bf16",
        recompute=True,
        optimizer=_adamw(2e-5),
    )
    named = ("optimizer.learning_rate", "epochs", "batch_tokens", "schedule", "warmup_fraction")
    known = {
        f"{stage}.{key}": T9
        for stage in ("fit", "stage2")
        for key in (*named, "precision", "recompute")
    }
    guessed = ("optimizer.weight_decay", "optimizer.beta1", "optimizer.beta2", "optimizer.clip_norm")  # fmt: skip
    return Preset(
        about="WebWorld (arXiv 2602.14721): Qwen3 8B to 32B, whole pages, 1.06M trajectories on 16 A100",
        config=TuningConfig(
            form=TunedForm.FULL,
            cutoff_tokens=cutoff,
            fit=fit,
            stage2=_with_rate(fit, 8e-6, epochs=5.0, share=0.5),
        ),
        sources={
            "form": "WebWorld 3.1 and Fig. 2",
            "cutoff_tokens": f"{T9}; longer rows are cut there and left out here",
            "fit.micro_tokens": f"{T9}: 2 sequences a device",
            "stage2.micro_tokens": f"{UNVERIFIED}: the paper gives 8 devices and a batch of 32",
            "adapters.rank": f"{T9}: full fine-tune",
            **known,
            **{f"{stage}.{key}": FACTORY for stage in ("fit", "stage2") for key in guessed},
        },
    )


def dynaweb() -> Preset:
    """DynaWeb's world model."""
    missing = f"{UNVERIFIED}: not in the text available to us; WebWorld's value"
    fit = FitConfig(
        epochs=1.0,
        batch_tokens=64 * 20_000,
        micro_tokens=40_000,
        schedule="cosine",
        warmup_fraction=0.1,
        precision="bf16",
        recompute=True,
        optimizer=_adamw(2e-5),
    )
    unknown = ("optimizer.learning_rate", "batch_tokens", "micro_tokens", "schedule", "warmup_fraction", "precision")  # fmt: skip
    return Preset(
        about="DynaWeb (arXiv 2601.22149): GPT-oss-120b, reasoning and change in words, SFT with LLaMA-Factory",
        config=TuningConfig(form=TunedForm.NL, fit=fit),
        sources={
            "form": "DynaWeb 3.2",
            "fit.epochs": "DynaWeb 4.1",
            **{f"fit.{key}": missing for key in unknown},
        },
    )


def word2world() -> Preset:
    """Word2World's recipe."""
    where = "Word2World (arXiv 2512.18832), code and appendix"
    cutoff = 12_288
    fit = FitConfig(
        epochs=5.0,
        batch_tokens=128 * cutoff,
        micro_tokens=2 * cutoff,
        decay_fraction=0.0,
        precision="bf16",
        recompute=True,
        optimizer=_adamw(1e-5),
    )
    return Preset(
        about="Word2World: whole trajectories as conversations, 7B and 8B models",
        config=TuningConfig(form=TunedForm.FULL, cutoff_tokens=cutoff, fit=fit),
        sources={
            "cutoff_tokens": f"{where}; longer rows are left out here",
            "fit.epochs": where,
            "fit.optimizer.learning_rate": where,
            "fit.batch_tokens": f"{where}: 128 rows; here their longest possible length",
            "fit.decay_fraction": f"{where}: constant after a warm-up",
            "fit.warmup_steps": f"{UNVERIFIED}: there is a warm-up, of a length unknown to us",
            "fit.precision": f"{UNVERIFIED}",
        },
    )


def _adamw(rate: float) -> OptimizerConfig:
    return OptimizerConfig(name="adamw", learning_rate=rate, weight_decay=0.0, beta2=0.999)


def _with_rate(fit: FitConfig, rate: float, *, epochs: float, share: float) -> FitConfig:
    return FitConfig(
        epochs=epochs,
        batch_tokens=int(fit.batch_tokens * share),
        micro_tokens=fit.micro_tokens,
        schedule=fit.schedule,
        warmup_fraction=fit.warmup_fraction,
        precision=fit.precision,
        recompute=fit.recompute,
        optimizer=_adamw(rate),
    )


PRESETS = {
    "small": small,
    "finetune": finetune,
    "webworld": webworld,
    "dynaweb": dynaweb,
    "word2world": word2world,
}
"""Name -> preset."""


def preset(name: str) -> Preset:
    """A preset by name.

    Raises:
        UserError: no such preset.
    """
    if name not in PRESETS:
        raise UserError(f"no preset {name!r}: use one of {', '.join(PRESETS)}")
    return PRESETS[name]()
