"""Where a run stands, on disk: weights, optimiser, cursor. Everything else follows from seeds."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.dream.starts import StartPoint
from dynaweb.errors import StorageError
from dynaweb.gspo.config import GspoConfig
from dynaweb.records.action import print_action
from dynaweb.runs.folder import fingerprint
from dynaweb.train.checkpoint import Json, save_checkpoint
from dynaweb.train.crew import Crew, take_weights, trained, weights_checksum
from dynaweb.train.optimizer import Optimizer

log = logging.getLogger(__name__)

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
    skipped: int = 0
    """Updates taken back since the last that was kept (`guard`)."""
    live_steps: int = 0
    """Real actions that live groups took, against `live.budget`."""
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
        "initial_weights": weights_checksum(policy),
    }


def resume(
    policy: PreTrainedModel,
    optimizer: Optimizer,
    identity: Identity,
    folder: Path,
    crew: Crew,
) -> TrainState:
    """Load the newest whole checkpoint into policy and optimiser; a fresh state when there is none.

    One that is not whole is set aside, said aloud, and the one before it is taken. Every rank calls it.

    Raises:
        StorageError: the folder holds another run, or a checkpoint that does not fit.
    """
    before = set(_damaged(folder))
    found = crew.newest(folder / CHECKPOINTS)
    if (aside := sorted(set(_damaged(folder)) - before)) and crew.first:
        log.error(
            "checkpoints in %r were not whole and are set aside as %s; the run goes on %s",
            str(folder / CHECKPOINTS),
            ", ".join(repr(name) for name in aside),
            f"from iteration {found.step}" if found is not None else "from its beginning",
        )
    if found is None:
        return TrainState()
    other = [k for k, v in identity.items() if found.state.get(k) != v]
    if other:
        raise StorageError(
            f"{str(folder)!r} holds a run with another {' and '.join(other)}: use a new folder, or the settings it was begun with"
        )
    take_weights(policy, found.tensors("model"))
    optimizer.restore(found.tensors("optimizer"))
    cursor = _cursor(found.state, folder)
    return TrainState(
        iteration=found.step,
        next_start=cursor["next_start"],
        steps=cursor["steps"],
        stopped=bool(found.state["stopped"]),
        skipped=cursor["skipped"],
        live_steps=cursor["live_steps"],
        teaching=_shares(found.state["teaching"]),
    )


def save(
    policy: PreTrainedModel,
    optimizer: Optimizer,
    identity: Identity,
    folder: Path,
    state: TrainState,
    crew: Crew,
) -> None:
    """Write a checkpoint of the weights that are trained; on return it is whole and on disk. Every rank calls it, the first writes.

    Raises:
        StorageError: disk full or folder not writable; the checkpoints before it are untouched.
    """
    rest: dict[str, Json] = {
        **identity,
        "next_start": state.next_start,
        "steps": state.steps,
        "stopped": state.stopped,
        "skipped": state.skipped,
        "live_steps": state.live_steps,
        "teaching": dict(state.teaching),
    }
    tensors: dict[str, Mapping[str, Tensor]] = {
        "model": crew.gathered(trained(policy)),
        "optimizer": crew.gathered(optimizer.state()),
    }
    if crew.first:
        save_checkpoint(folder / CHECKPOINTS, state.iteration, tensors, rest)


def _cursor(state: Mapping[str, Json], folder: Path) -> dict[str, int]:
    found = {key: state.get(key) for key in ("next_start", "steps", "skipped", "live_steps")}
    whole = {key: value for key, value in found.items() if isinstance(value, int)}
    if len(whole) < len(found):
        raise StorageError(
            f"checkpoint in {str(folder)!r} has no cursor: {found!r}; train again in a new folder"
        )
    return whole


def _damaged(folder: Path) -> list[str]:
    return [path.name for path in (folder / CHECKPOINTS).glob("damaged-*")]


def _shares(value: Json) -> dict[str, float]:
    if not isinstance(value, dict):
        raise StorageError(f"checkpoint holds no shares of tasks: {value!r}")
    return {task: float(share) for task, share in value.items() if isinstance(share, int | float)}
