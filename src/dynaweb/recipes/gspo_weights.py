"""The policy's weights before and after a GSPO training: whole or with adapters, in one process or over ranks."""

from dataclasses import dataclass, field
from pathlib import Path

import torch
from transformers import PreTrainedModel

from dynaweb.errors import StorageError, UserError
from dynaweb.gspo.state import CHECKPOINTS
from dynaweb.lm.config import AdapterConfig
from dynaweb.lm.language import Language
from dynaweb.lm.model import load_model, save_model
from dynaweb.records.seeds import derive_seed
from dynaweb.train.checkpoint import latest_checkpoint
from dynaweb.train.crew import take_weights
from dynaweb.train.ranks import Ranks

ADAPTERS = "adapters"
"""Folder of the trained adapters, in the run's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What of the policy is trained, and what is written of it."""

    adapters: AdapterConfig = field(default_factory=AdapterConfig)
    """LoRA; rank 0 trains all weights."""
    merge: bool = True
    """With adapters: write the whole model too, the adapters merged into it."""

    def __post_init__(self) -> None:
        if not self.merge and not self.adapters.rank:
            raise UserError("--adapter-only needs adapters: add --lora")


def begin(policy: Path, tuned: Tuned, seed: int) -> PreTrainedModel:
    """The policy to train; with adapters, nothing else of it asks for gradients.

    Raises:
        StorageError: no such model. UserError: it has no layers to stand beside.
    """
    model = load_model(policy)
    if tuned.adapters.rank:
        from dynaweb.lm.adapters import add_adapters  # noqa: PLC0415 - an extra

        add_adapters(model, tuned.adapters, derive_seed(seed, "adapters") % 2**31)
    return model


def write(
    model: PreTrainedModel,
    language: Language,
    policy: Path,
    tuned: Tuned,
    training: Path,
    out: Path,
    ranks: Ranks,
) -> None:
    """The trained policy as a folder; by the first rank, when the training has ended.

    Args:
        model: after its training; over ranks it may be in shards, and its weights are read from the last checkpoint.
        language: of the policy.
        policy: folder it began from.
        tuned: what was trained.
        training: folder of the training.
        out: what is written.
        ranks: who trained it.

    Raises:
        StorageError: a file cannot be written, or the checkpoint is gone.
    """
    if not tuned.adapters.rank and ranks.world == 1:
        _save(model, language, out)
        return
    found = latest_checkpoint(training / CHECKPOINTS)
    if found is None:
        raise StorageError(f"no checkpoint in {str(training)!r}: run the same command again")
    weights = found.tensors("model")
    if not tuned.adapters.rank:
        whole = load_model(policy)
        take_weights(whole, weights)
        _save(whole, language, out)
        return
    from dynaweb.lm.adapters import load_adapted, save_adapters  # noqa: PLC0415 - an extra

    with torch.no_grad():
        save_adapters(model, weights, tuned.adapters, out / ADAPTERS, str(policy.resolve()))
        if tuned.merge:
            _save(load_adapted(policy, out / ADAPTERS), language, out)


def _save(model: PreTrainedModel, language: Language, out: Path) -> None:
    language.save(out)
    save_model(model, out)
