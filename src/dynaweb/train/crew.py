"""Who makes a training step: this process alone, or several ranks together (`train.ranks`)."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor, distribute_tensor
from transformers import PreTrainedModel

from dynaweb.errors import StorageError
from dynaweb.train.batch import Example
from dynaweb.train.checkpoint import Checkpoint, latest_checkpoint
from dynaweb.train.config import FitConfig
from dynaweb.train.loss import accumulate_gradients


class Crew(Protocol):
    """One or more processes with the same model, that go through a training in step."""

    @property
    def rank(self) -> int:
        """Number of this process, from 0."""
        ...

    @property
    def world(self) -> int:
        """Processes in all."""
        ...

    @property
    def first(self) -> bool:
        """Whether this process writes files and tells how it goes."""
        ...

    def accumulate(self, batch: Sequence[Example], config: FitConfig) -> float:
        """Gradients of a step's loss, the same as one process would find; returns the loss of the whole step.

        Raises:
            TrainingError: the loss is not finite; raised on every rank.
        """
        ...

    def clock(self) -> float:
        """Seconds; one reading for all ranks."""
        ...

    def gathered(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Whole tensors, on the first rank; the others get none. Every rank must ask."""
        ...

    def newest(self, folder: Path) -> Checkpoint | None:
        """The newest whole checkpoint, the same for all ranks."""
        ...

    def exchange(self, text: str) -> list[str]:
        """What every rank says, in their order; every rank must ask."""
        ...

    def apart(self) -> AbstractContextManager[None]:
        """While it lasts weights are whole on every rank, and passes through the model are its own: no rank waits for another.

        Every rank must go in and out; gradients that `sum_gradients` has not summed are nobody's.
        """
        ...

    def sum_gradients(self) -> None:
        """Sum over ranks what their own passes left, once an optimiser step, as the last thing in `apart`; every rank must ask."""
        ...


class Alone:
    """A crew of this process."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model

    @property
    def rank(self) -> int:
        """The only one."""
        return 0

    @property
    def world(self) -> int:
        """This process."""
        return 1

    @property
    def first(self) -> bool:
        """Always."""
        return True

    def accumulate(self, batch: Sequence[Example], config: FitConfig) -> float:
        """As `loss.accumulate_gradients`."""
        return accumulate_gradients(self._model, batch, config)

    def clock(self) -> float:
        """Seconds of this machine's monotonic clock."""
        return time.monotonic()

    def gathered(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """They are whole already."""
        return dict(tensors)

    def newest(self, folder: Path) -> Checkpoint | None:
        """As `checkpoint.latest_checkpoint`."""
        return latest_checkpoint(folder)

    def exchange(self, text: str) -> list[str]:
        """There is nobody else."""
        return [text]

    def apart(self) -> AbstractContextManager[None]:
        """It always is."""
        return nullcontext()

    def sum_gradients(self) -> None:
        """They are whole already."""


def whole(tensor: Tensor) -> Tensor:
    """A tensor that may be sharded over the ranks, whole; every rank must ask."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def sharded_like(tensor: Tensor, like: Tensor) -> Tensor:
    """A whole tensor, laid out over the ranks as another is."""
    if isinstance(like, DTensor) and tensor.ndim:
        return distribute_tensor(tensor.to(like.device), like.device_mesh, like.placements)
    return tensor


def trained(model: PreTrainedModel) -> dict[str, Tensor]:
    """The weights that a training changes, by name."""
    return {n: p for n, p in model.named_parameters() if p.requires_grad}


def weights_checksum(model: PreTrainedModel) -> str:
    """What makes the weights of two models the same; of a sharded model every rank must ask."""
    weights = hashlib.sha256()
    for name, p in model.named_parameters():
        weights.update(name.encode())
        weights.update(whole(p).detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return weights.hexdigest()


@torch.no_grad()
def take_weights(model: PreTrainedModel, weights: Mapping[str, Tensor]) -> None:
    """Put the weights of a checkpoint in their place.

    Raises:
        StorageError: one is missing or has another shape.
    """
    for name, p in trained(model).items():
        if name not in weights or weights[name].shape != p.shape:
            raise StorageError(
                f"checkpoint has no weights of shape {tuple(p.shape)} for {name!r}: it belongs to another model; use a new folder"
            )
        p.copy_(sharded_like(weights[name], p))
