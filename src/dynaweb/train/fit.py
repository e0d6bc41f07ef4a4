"""Supervised training of any model here: examples in, trained weights out, resumable to the bit.

A training is a pure function of model, examples and configuration: batches come from the seed and
the step, dropout is off, and a checkpoint holds weights, optimiser and cursor. Killed at any point
and called again with the same arguments it continues, and ends with the same bytes on the same
machine and number of threads.
"""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

import torch
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.errors import StorageError, TrainingError, UserError
from dynaweb.lm.model import context_length
from dynaweb.train.batch import Example, all_batches, examples_checksum
from dynaweb.train.checkpoint import Json, save_checkpoint
from dynaweb.train.config import FitConfig as FitConfig
from dynaweb.train.crew import Alone, Crew, take_weights, trained, weights_checksum, whole
from dynaweb.train.loss import check_precision
from dynaweb.train.memory import recompute_activations
from dynaweb.train.metrics import FitRow as FitRow
from dynaweb.train.metrics import append_row, drop_rows_after
from dynaweb.train.optimizer import Optimizer
from dynaweb.train.schedule import learning_rate_scale, planned_steps

CHECKPOINTS: Final = "checkpoints"
METRICS: Final = "metrics.jsonl"

Progress: TypeAlias = Callable[[FitRow], None]
"""Called with every row of metrics; for progress bars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitResult:
    """What a training came to."""

    steps: int
    """Optimiser steps made, over all resumptions; `FitConfig(steps=...)` set to it repeats the training."""
    loss: float
    """Mean training loss over the last row of metrics; NaN when no step was made."""
    elapsed_sec: float
    """Wall clock of training, over all resumptions."""
    tokens: int
    """Prompt and completion tokens read, over all resumptions; padding not counted."""
    resumed_from: int | None
    """Step of the checkpoint that this call continued from; None when it began anew."""
    damaged: tuple[str, ...] = ()
    """Checkpoints that were not whole and have been set aside, for the log."""


@dataclass(slots=True)
class _Course:
    """Where a training stands; what a checkpoint holds beside the tensors."""

    step: int = 0
    planned: int | None = None
    elapsed_sec: float = 0.0
    tokens: int = 0
    loss: float = math.nan
    window_losses: list[float] = field(default_factory=list)
    window_tokens: int = 0
    window_sec: float = 0.0


def fit(
    model: PreTrainedModel,
    examples: Sequence[Example],
    config: FitConfig,
    folder: Path,
    progress: Progress | None = None,
    crew: Crew | None = None,
) -> FitResult:
    """Train a model in place, from the weights it has.

    Args:
        model: Any causal LM; trained in its own precision, on its own device.
        examples: What to learn; batched by length within a seeded shuffle.
        config: How, and how long.
        folder: Holds checkpoints and `metrics.jsonl`; of this training alone. A training that is
            there already is continued or, when complete, only loaded.
        progress: Told every row of metrics.
        crew: Who does it: this process alone when not given, else the ranks of `ranks.crew_of`, each of which calls this.

    Raises:
        UserError: no examples, or one that does not fit the model.
        StorageError: the folder holds a training of other examples, configuration or first weights.
        TrainingError: loss or gradients are no longer finite; the last checkpoint is still good.
    """
    _check_examples(model, examples)
    check_precision(model.device, config)
    crew = crew or Alone(model)
    model.eval()
    optimizer = Optimizer(model, config.optimizer)
    identity = _identity(model, examples, config)
    found = crew.newest(folder / CHECKPOINTS)
    course = _Course()
    if found is not None:
        _check_identity(found.state, identity, folder)
        take_weights(model, found.tensors("model"))
        optimizer.restore(found.tensors("optimizer"))
        course = _course(found.state)
    if config.recompute:
        recompute_activations(model)
    _train(model, examples, config, folder, optimizer, course, identity, progress, crew)
    model.eval()
    return FitResult(
        steps=course.step,
        loss=course.loss,
        elapsed_sec=course.elapsed_sec,
        tokens=course.tokens,
        resumed_from=None if found is None else found.step,
        damaged=() if found is None else found.damaged,
    )


def _train(
    model: PreTrainedModel,
    examples: Sequence[Example],
    config: FitConfig,
    folder: Path,
    optimizer: Optimizer,
    course: _Course,
    identity: dict[str, str],
    progress: Progress | None,
    crew: Crew,
) -> None:
    lengths = [e.length for e in examples]
    if course.planned is None:
        course.planned = planned_steps(config, lengths)
    if crew.first:
        drop_rows_after(folder / METRICS, course.step)
    batches = islice(all_batches(lengths, config.batch_tokens, config.seed), course.step, None)
    saved_at = tick = crew.clock()
    while course.planned is None or course.step < course.planned:
        batch = [examples[i] for i in next(batches)]
        scale = learning_rate_scale(course.step, course.planned, config)
        loss = crew.accumulate(batch, config)
        norm = optimizer.step(scale)
        now = crew.clock()
        _advance(course, loss, sum(e.length for e in batch), now - tick, config)
        tick = now
        last = course.step == course.planned
        if last or course.step % config.log_every == 0:
            row = _close_window(course, scale, norm)
            if crew.first:
                folder.mkdir(parents=True, exist_ok=True)
                append_row(folder / METRICS, row)
                if progress is not None:
                    progress(row)
        if last or now - saved_at >= config.checkpoint_seconds:
            check_finite(model)
            _save(model, optimizer, course, identity, folder, crew)
            saved_at = crew.clock()


def _save(
    model: PreTrainedModel,
    optimizer: Optimizer,
    course: _Course,
    identity: dict[str, str],
    folder: Path,
    crew: Crew,
) -> None:
    groups: dict[str, Mapping[str, Tensor]] = {
        "model": crew.gathered(trained(model)),
        "optimizer": crew.gathered(optimizer.state()),
    }
    if crew.first:
        state: dict[str, Json] = {"course": dataclasses.asdict(course), **identity}
        save_checkpoint(folder / CHECKPOINTS, course.step, groups, state)


def check_finite(model: PreTrainedModel) -> None:
    """Refuse to keep broken weights.

    Raises:
        TrainingError: a parameter is not finite.
    """
    for name, p in trained(model).items():
        if not bool(whole(torch.isfinite(p).all())):
            raise TrainingError(f"weights {name!r} are not finite: lower the learning rate")


def _advance(course: _Course, loss: float, tokens: int, seconds: float, config: FitConfig) -> None:
    course.step += 1
    course.tokens += tokens
    course.elapsed_sec += seconds
    course.window_losses.append(loss)
    course.window_tokens += tokens
    course.window_sec += seconds
    plateau = 1.0 - config.decay_fraction
    if (
        course.planned is None
        and config.max_seconds is not None
        and course.elapsed_sec >= plateau * config.max_seconds
    ):
        course.planned = max(course.step, math.ceil(course.step / plateau))


def _close_window(course: _Course, scale: float, norm: float) -> FitRow:
    course.loss = math.fsum(course.window_losses) / len(course.window_losses)
    row = FitRow(
        step=course.step,
        planned_steps=course.planned,
        loss=course.loss,
        lr=scale,
        grad_norm=norm,
        tokens_per_sec=course.window_tokens / max(course.window_sec, 1e-9),
        elapsed_sec=course.elapsed_sec,
    )
    course.window_losses, course.window_tokens, course.window_sec = [], 0, 0.0
    return row


def _check_examples(model: PreTrainedModel, examples: Sequence[Example]) -> None:
    if not examples:
        raise UserError("no examples to train on: collect some trajectories first")
    context = context_length(model)
    for i, e in enumerate(examples):
        if not e.prompt_ids or not e.completion_ids:
            raise UserError(f"example {i} has an empty prompt or completion")
        if e.length > context:
            raise UserError(
                f"example {i} has {e.length} tokens, the model reads {context}: shorten it or raise the model's context"
            )
        if not (math.isfinite(e.weight) and e.weight > 0.0):
            raise UserError(f"example {i} has weight {e.weight!r}: use a finite number above 0")


def _identity(
    model: PreTrainedModel, examples: Sequence[Example], config: FitConfig
) -> dict[str, str]:
    """What makes two trainings the same; how often they log or save does not."""
    settings = {
        k: v
        for k, v in dataclasses.asdict(config).items()
        if k not in ("checkpoint_seconds", "log_every", "recompute")
    }
    return {
        "configuration": json.dumps(settings, sort_keys=True),
        "examples": examples_checksum(examples),
        "first weights": weights_checksum(model),
    }


def _check_identity(
    state: "dict[str, Json] | object", identity: dict[str, str], folder: Path
) -> None:
    given = state if isinstance(state, dict) else {}
    other = [name for name, value in identity.items() if given.get(name) != value]
    if other:
        raise StorageError(
            f"{str(folder)!r} holds a training with other {', '.join(other)}: use a new folder, or delete that one"
        )


def _course(state: "dict[str, Json] | object") -> _Course:
    given = state.get("course") if isinstance(state, dict) else None
    if not isinstance(given, dict):
        raise StorageError("checkpoint says nothing about its course: delete it")
    return _Course(**given)
