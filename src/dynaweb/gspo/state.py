"""Where a run stands, on disk: weights, optimiser, cursor. Everything else follows from seeds."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.dream.starts import StartPoint
from dynaweb.errors import StorageError
from dynaweb.gspo.config import GspoConfig
from dynaweb.records.action import print_action
from dynaweb.runs.folder import fingerprint
from dynaweb.train.checkpoint import Json, latest_checkpoint, save_checkpoint
from dynaweb.train.optimizer import Optimizer

CHECKPOINTS = "checkpoints"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainState:
    """The cursor of a run."""

    iteration: int = 0
    """Iterations made."""
    next_start: int = 0
    """Number of the next start in the endless sequence."""
    steps: int = 0
    """Optimiser steps made."""
    stopped: bool = False
    """An audit ended the run."""
    teaching: Mapping[str, float] = field(default_factory=dict)
    """Task -> share of its latest groups that taught something; empty unless starts adapt."""


Identity = dict[str, str]
"""What makes two runs the same run; differing in any of it, a folder is refused."""


def identify(
    policy: PreTrainedModel,
    starts: tuple[StartPoint, ...],
    config: GspoConfig,
    versions: tuple[str, ...],
) -> Identity:
    """Who a run is, before its first update.

    The number of iterations and the checkpoints' rhythm are left out: a run may go on longer.

    Args:
        policy: with its initial weights.
        starts: in order.
        config: every dial.
        versions: of policy and world model.
    """
    dials = replace(config, iterations=1, checkpoint_every=1)
    places = [
        (
            p.start.task,
            p.start.seed,
            [print_action(a) for a in p.start.prefix],
            len(p.experts),
            len(p.own),
        )
        for p in starts
    ]
    return {
        "config": fingerprint(dials),
        "starts": fingerprint(places),
        "versions": fingerprint(versions),
        "initial_weights": _weights_checksum(policy),
    }


def resume(
    policy: PreTrainedModel, optimizer: Optimizer, identity: Identity, folder: Path
) -> TrainState:
    """Load the newest whole checkpoint into policy and optimiser; a fresh state when there is none.

    Raises:
        StorageError: the folder holds another run, or a checkpoint that does not fit.
    """
    found = latest_checkpoint(folder / CHECKPOINTS)
    if found is None:
        return TrainState()
    other = [k for k, v in identity.items() if found.state.get(k) != v]
    if other:
        raise StorageError(
            f"{str(folder)!r} holds a run with another {' and '.join(other)}: use a new folder, or the settings it was begun with"
        )
    weights = found.tensors("model")
    with torch.no_grad():
        for name, parameter in policy.named_parameters():
            if name not in weights or weights[name].shape != parameter.shape:
                raise StorageError(f"checkpoint in {str(folder)!r} has no weights for {name!r}")
            parameter.copy_(weights[name])
    optimizer.restore(found.tensors("optimizer"))
    next_start, steps = found.state["next_start"], found.state.get("steps")
    if not isinstance(next_start, int) or not isinstance(steps, int):
        raise StorageError(
            f"checkpoint in {str(folder)!r} has no cursor: {next_start!r}, {steps!r}; train again in a new folder"
        )
    return TrainState(
        iteration=found.step,
        next_start=next_start,
        steps=steps,
        stopped=bool(found.state["stopped"]),
        teaching=_shares(found.state["teaching"]),
    )


def save(
    policy: PreTrainedModel,
    optimizer: Optimizer,
    identity: Identity,
    folder: Path,
    state: TrainState,
) -> None:
    """Write a checkpoint; on return it is whole and on disk.

    Raises:
        StorageError: disk full or folder not writable; the checkpoints before it are untouched.
    """
    rest: dict[str, Json] = {
        **identity,
        "next_start": state.next_start,
        "steps": state.steps,
        "stopped": state.stopped,
        "teaching": dict(state.teaching),
    }
    tensors: dict[str, Mapping[str, Tensor]] = {
        "model": dict(policy.named_parameters()),
        "optimizer": optimizer.state(),
    }
    save_checkpoint(folder / CHECKPOINTS, state.iteration, tensors, rest)


def _shares(value: Json) -> dict[str, float]:
    if not isinstance(value, dict):
        raise StorageError(f"checkpoint holds no shares of tasks: {value!r}")
    return {task: float(share) for task, share in value.items() if isinstance(share, int | float)}


def _weights_checksum(model: PreTrainedModel) -> str:
    digest = hashlib.sha256()
    for name, parameter in model.named_parameters():
        digest.update(name.encode())
        data = parameter.detach().cpu().contiguous().view(torch.uint8)
        digest.update(data.numpy().tobytes())
    return digest.hexdigest()
