"""Training in dreams, on one page: starts, groups of dreams, credit, update; and again.

A run is a function of its configuration, the policy it begins with and the world model. Killed at any
point and called again on the same folder it goes on from its last checkpoint and ends the same. What is
measured in dreams is written as such; `audit` says how much of it is true.
"""

import copy
import logging
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from transformers import PreTrainedModel

from dynaweb.agent.lm_agent import AgentConfig
from dynaweb.batch.tokens import render_expert, train_trajectories
from dynaweb.contracts import Judge, Sampler, WorldModel
from dynaweb.dream.run import Dreamers, dream
from dynaweb.dream.starts import StartPoint
from dynaweb.gspo.audit import Audit, AuditReport
from dynaweb.gspo.config import GspoConfig
from dynaweb.gspo.demonstrations import Demonstrations
from dynaweb.gspo.groups import harvest, teaching
from dynaweb.gspo.progress import MetricsLog, Progress, Row, note_of, silent
from dynaweb.gspo.state import identify, resume, save
from dynaweb.gspo.update import update_policy
from dynaweb.lm.language import Language
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory
from dynaweb.train.batch import Example
from dynaweb.train.optimizer import Optimizer

log = logging.getLogger(__name__)

CLIP_WARNING = 0.5
"""Share of clipped units above which the band is too narrow for such short replies."""


class PolicySampler(Sampler, Protocol):
    """A sampler that takes new weights."""

    def update(self, model: PreTrainedModel, version: str) -> None:
        """Answer with these weights from now on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the loop is made of; how each part was made is not its business."""

    policy: PreTrainedModel
    """The initial policy; trained in place."""
    name: str
    """Version of the initial policy, the stem of all later versions."""
    sampler: PolicySampler
    """Samples from the policy."""
    language: Language
    """The policy's."""
    world: WorldModel
    """Frozen."""
    judge: Judge
    """Frozen."""
    starts: tuple[StartPoint, ...]
    """Real places to begin, with the experts' and the policy's own real ways on."""
    demonstrations: tuple[Example, ...] = ()
    """What the supervised term reads (`update.demonstrations`)."""
    audit: Audit | None = None
    """Replays dreams for real."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GspoResult:
    """What a run came to."""

    iterations: int
    """Made, over all resumptions."""
    stopped_by_audit: bool
    """The dreams were not true enough and the configuration says to stop."""
    resumed_from: int | None
    """Iteration of the checkpoint that this call continued from; None when it began anew."""


def train_gspo(
    parts: Parts, config: GspoConfig, folder: Path, progress: Progress = silent
) -> GspoResult:
    """Train the policy in dreams, in place.

    Args:
        parts: policy, world model, judge, starts.
        config: every dial.
        folder: holds checkpoints and `metrics.jsonl`, of this run alone.
        progress: told after each iteration.

    Raises:
        UserError: no starts.
        StorageError: the folder holds another run, or cannot be written.
        TrainingError: loss or gradients are no longer finite; the last checkpoint is still good.
    """
    reference = copy.deepcopy(parts.policy) if config.update.kl > 0.0 else None
    optimizer = Optimizer(parts.policy, config.update.optimizer)
    versions = (parts.name, parts.world.version)
    shown = Demonstrations(
        parts.demonstrations,
        config.update.demonstrations,
        seed=derive_seed(config.seed, "demonstrations"),
    )
    identity = identify(parts.policy, parts.starts, config, versions)
    identity |= {"demonstrations": shown.checksum()}
    state = resume(parts.policy, optimizer, identity, folder)
    resumed_from = state.iteration or None
    metrics = MetricsLog(folder, keep=state.iteration)
    while state.iteration < config.iterations and not state.stopped:
        i = state.iteration
        version = f"{parts.name}+gspo{i}"
        parts.sampler.update(parts.policy, version)
        began = time.monotonic()
        crop = harvest(
            parts.starts,
            config,
            first_start=state.next_start,
            dream=lambda requests: dream(requests, _dreamers(parts, config)),
            render=lambda t: render_expert(t, parts.language),
            weights=state.teaching,
        )
        dreamed = time.monotonic()
        attempts = train_trajectories(c for g in crop.trained for c in g.credits)
        changed = update_policy(
            parts.policy,
            optimizer,
            attempts,
            config.update,
            seed=derive_seed(config.seed, "update", i),
            steps_before=state.steps,
            reference=reference,
            shown=shown,
        )
        row: Row = {"iteration": float(i + 1), **crop.metrics(), **changed}
        row |= {"dreams_sec": dreamed - began, "update_sec": time.monotonic() - dreamed}
        report = _audit(parts, config, i, crop.dreams)
        row |= report.metrics() if report is not None else {}
        _warn(row, config)
        below = _below_bar(report, config)
        state = replace(
            state,
            iteration=i + 1,
            next_start=state.next_start + crop.starts_used,
            steps=state.steps + round(changed.get("update/optimizer_steps") or 0),
            teaching=teaching(state.teaching, crop.groups) if config.starts.adapt else {},
            stopped=below and config.audit.stop,
        )
        metrics.append(row)
        if state.stopped or (i + 1) % config.checkpoint_every == 0 or i + 1 == config.iterations:
            save(parts.policy, optimizer, identity, folder, state)
        progress("gspo", i + 1, config.iterations, note_of(row))
    parts.sampler.update(parts.policy, f"{parts.name}+gspo{state.iteration}")
    return GspoResult(
        iterations=state.iteration, stopped_by_audit=state.stopped, resumed_from=resumed_from
    )


def _dreamers(parts: Parts, config: GspoConfig) -> Dreamers:
    return Dreamers(
        sampler=parts.sampler,
        language=parts.language,
        agent=AgentConfig(
            temperature=config.update.temperature, max_new_tokens=config.max_new_tokens
        ),
        world=parts.world,
        judge=parts.judge,
        config=config.dream,
    )


def _audit(
    parts: Parts, config: GspoConfig, iteration: int, dreams: tuple[Trajectory, ...]
) -> AuditReport | None:
    """Every `every` iterations, the first included: a world model may be untrue from the beginning."""
    due = config.audit.every > 0 and iteration % config.audit.every == 0
    if parts.audit is None or not due:
        return None
    chosen = sorted(
        dreams, key=lambda t: derive_seed(config.seed, "audit", iteration, t.trajectory_id)
    )
    return parts.audit(iteration, chosen[: config.audit.dreams])


def _below_bar(report: AuditReport | None, config: GspoConfig) -> bool:
    precision = report.precision if report is not None else None
    return precision is not None and precision < config.audit.bar


def _warn(row: Row, config: GspoConfig) -> None:
    clipped, precision = row["update/clip_fraction"], row.get("audit/precision")
    if clipped is not None and clipped > CLIP_WARNING:
        log.warning(
            "%.0f %% of ratios are clipped at iteration %.0f: widen clip (low %g, high %g) or lower the learning rate",
            100 * clipped,
            row["iteration"],
            config.update.clip.low,
            config.update.clip.high,
        )
    if row["update/ratio_is_one"] == 1.0:
        log.warning(
            "every ratio is 1 at iteration %.0f: one optimiser step for each batch never clips; use mini_batches above 1",
            row["iteration"],
        )
    if precision is not None and precision < config.audit.bar:
        log.warning(
            "only %.0f %% of dreamed successes were real at iteration %.0f, the bar is %.0f %%: the policy is learning the world model's mistakes",
            100 * precision,
            row["iteration"],
            100 * config.audit.bar,
        )
