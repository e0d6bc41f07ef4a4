"""Training in dreams and in the real browser, on one page: starts, groups of attempts, credit, update; and again.

A run is a function of its configuration, the policy it begins with and the world model. Killed at any
point and called again on the same folder it goes on from its last checkpoint and ends the same. What is
measured in dreams is written as such; `audit` says how much of it is true.
"""

import copy
import json
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from transformers import PreTrainedModel

from dynaweb.agent.lm_agent import AgentConfig
from dynaweb.batch.summary import Metrics
from dynaweb.batch.tokens import imitated, render_expert, train_trajectories
from dynaweb.dream.run import Dreamers, dream
from dynaweb.gspo.audit import AuditReport
from dynaweb.gspo.config import GspoConfig
from dynaweb.gspo.demonstrations import Demonstrations
from dynaweb.gspo.failures import Trying
from dynaweb.gspo.fresh import lag_of
from dynaweb.gspo.groups import Harvest, harvest, teaching
from dynaweb.gspo.guard import Guard
from dynaweb.gspo.parts import Parts as Parts
from dynaweb.gspo.parts import PolicySampler as PolicySampler
from dynaweb.gspo.parts import require_sources
from dynaweb.gspo.progress import MetricsLog, Progress, Row, note_of, silent, warn
from dynaweb.gspo.state import Identity, TrainState, identify, resume, save
from dynaweb.gspo.together import shared_attempts
from dynaweb.gspo.update import update_policy
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory
from dynaweb.train.crew import Crew
from dynaweb.train.optimizer import Optimizer
from dynaweb.train.ranks import Ranks, crew_of

ALONE = Ranks()
"""This process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GspoResult:
    """What a run came to."""

    iterations: int
    """Made, over all resumptions."""
    stopped_by_audit: bool
    """The dreams were not true enough and the configuration says to stop."""
    resumed_from: int | None
    """Iteration of the checkpoint that this call continued from; None when it began anew."""
    live_steps: int = 0
    """Real actions that live groups took, over all resumptions; audits not counted."""
    budget_spent: bool = False
    """Every group is live and `live.budget` allows no further one, so the run ended before its last iteration."""


def train_gspo(
    parts: Parts,
    config: GspoConfig,
    folder: Path,
    progress: Progress = silent,
    ranks: Ranks = ALONE,
) -> GspoResult:
    """Train the policy in dreams, in place: all its weights, or those that ask for gradients (adapters).

    Args:
        parts: policy, world model, judge, starts.
        config: every dial.
        folder: holds checkpoints and `metrics.jsonl`, of this run alone.
        progress: told after each iteration.
        ranks: who does it, inside `ranks.joined`: every rank calls this with the same parts, the first writes. With
            FSDP2 the policy is left in shards.

    Raises:
        UserError: no starts, a source that the configuration wants is not there, or a policy that cannot be sharded.
        StorageError: the folder holds another run, or cannot be written.
        TrainingError: an update broke and is not to be skipped, dreams are of other weights than those in
            training, or an iteration has failed twice; the last checkpoint is whole.
    """
    require_sources(parts, config)
    shown = Demonstrations(
        parts.demonstrations,
        config.update.demonstrations,
        seed=derive_seed(config.seed, "demonstrations"),
    )
    identity = identify(parts.policy, parts.starts, config, (parts.name, parts.world_version))
    identity |= {"demonstrations": shown.checksum()}
    # copied before any rank gives a part of the weights away
    reference = _initial(parts.policy) if config.update.kl > 0.0 else None
    with crew_of(parts.policy, ranks, "fp32") as crew:
        optimizer = Optimizer(parts.policy, config.update.optimizer)
        state = resume(parts.policy, optimizer, identity, folder, crew)
        session = _Session(
            parts=parts,
            config=config,
            crew=crew,
            optimizer=optimizer,
            reference=reference,
            shown=shown,
            guard=Guard(parts.policy, optimizer, config.update.guard, in_a_row=state.skipped),
        )
        return _train(session, state, identity, folder, progress)


def _train(
    session: "_Session", state: TrainState, identity: Identity, folder: Path, progress: Progress
) -> GspoResult:
    parts, config, crew = session.parts, session.config, session.crew
    resumed_from = state.iteration or None
    metrics = MetricsLog(folder, keep=state.iteration) if crew.first else None
    while not _over(state, config):
        with Trying(folder, state.iteration + 1) if crew.first else nullcontext():
            state, row = _iterate(session, state)
            if metrics is not None:
                metrics.append(row)
            if _over(state, config) or state.iteration % config.checkpoint_every == 0:
                save(parts.policy, session.optimizer, identity, folder, state, crew)
        if crew.first:
            progress("gspo", state.iteration, config.iterations, note_of(row))
    with crew.apart():
        _give_weights(session, state)
    return GspoResult(
        iterations=state.iteration,
        stopped_by_audit=state.stopped,
        resumed_from=resumed_from,
        live_steps=state.live_steps,
        budget_spent=_spent(state, config) and state.iteration < config.iterations,
    )


def _initial(policy: PreTrainedModel) -> PreTrainedModel:
    """The reference of the KL term: a copy, or the policy itself where its adapters are all that is trained."""
    frozen = any(not p.requires_grad for p in policy.parameters())
    return policy if frozen else copy.deepcopy(policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """What stays the same from iteration to iteration; the weights inside move."""

    parts: Parts
    config: GspoConfig
    crew: Crew
    optimizer: Optimizer
    reference: PreTrainedModel | None
    shown: Demonstrations
    guard: Guard


def _spent(state: TrainState, config: GspoConfig) -> bool:
    return config.live.share == 1.0 and config.live.spent(state.live_steps)


def _over(state: TrainState, config: GspoConfig) -> bool:
    return state.iteration >= config.iterations or state.stopped or _spent(state, config)


def _iterate(session: _Session, state: TrainState) -> tuple[TrainState, Row]:
    """One batch of dreams, its update, and its audit when one is due."""
    config = session.config
    put_back = session.guard.begin()
    began = time.monotonic()
    crop = _harvest(session, state)
    dreamed = time.monotonic()
    changed = session.guard.update(lambda: _update(session, state, crop))
    row: Row = {"iteration": state.iteration + 1.0, **crop.metrics(), **put_back, **changed}
    row["live/real_steps_total"] = float(state.live_steps + crop.live_steps)
    row |= {"dreams_sec": dreamed - began, "update_sec": time.monotonic() - dreamed}
    told, alarms = _audited(session, state, crop)
    row |= told
    if session.crew.first:
        warn(row, alarms, config)
    after = replace(
        state,
        iteration=state.iteration + 1,
        next_start=state.next_start + crop.starts_used,
        steps=state.steps + round(changed.get("update/optimizer_steps") or 0),
        teaching=teaching(state.teaching, crop.groups) if config.starts.adapt else {},
        stopped=bool(alarms) and config.audit.stop,
        skipped=session.guard.in_a_row,
        live_steps=state.live_steps + crop.live_steps,
    )
    return after, row


def _give_weights(session: _Session, state: TrainState) -> None:
    """The sampler answers with the present weights; inside `Crew.apart`, where they are whole."""
    parts = session.parts
    if session.crew.first or not parts.served:
        parts.sampler.update(parts.policy, parts.version(state.iteration).text)


def _harvest(session: _Session, state: TrainState) -> Harvest:
    """The iteration's groups: dreamt by all ranks, a share each; made in the real browser by the first."""
    parts, config, crew = session.parts, session.config, session.crew
    live = parts.live
    with crew.apart():
        _give_weights(session, state)
        return harvest(
            parts.starts,
            config,
            first_start=state.next_start,
            dream=shared_attempts(
                lambda asked: dream(asked, _dreamers(parts, config)), crew, by_first=parts.served
            ),
            render=lambda t: render_expert(t, parts.language),
            live=shared_attempts(live, crew, by_first=True) if live is not None else None,
            live_steps=state.live_steps,
            weights=state.teaching,
        )


def _update(session: _Session, state: TrainState, crop: Harvest) -> Metrics:
    """The update of one iteration; attempts of one version of the policy are merged with their like alone."""
    parts, config = session.parts, session.config
    now = parts.version(state.iteration)
    credits = [c for g in crop.trained for c in g.credits]
    lag = {
        t.trajectory_id: lag_of(t, now, config.update.max_staleness)
        for t in (c.trajectory for c in credits)
    }
    attempts = [
        a
        for updates in sorted(set(lag.values()))
        for a in train_trajectories(
            (c for c in credits if lag[c.trajectory.trajectory_id] == updates),
            experts=config.update.experts.objective,
        )
    ]
    attempts += imitated(crop.shown)
    return update_policy(
        parts.policy,
        session.optimizer,
        attempts,
        config.update,
        seed=derive_seed(config.seed, "update", state.iteration),
        steps_before=state.steps,
        reference=session.reference,
        shown=session.shown,
        lags=lag,
        crew=session.crew,
    )


def _dreamers(parts: Parts, config: GspoConfig) -> Dreamers:
    assert parts.world is not None and parts.judge is not None  # `require_sources`
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


def _audited(session: _Session, state: TrainState, crop: Harvest) -> tuple[Metrics, Sequence[str]]:
    """What the audit measured, for the log, and its alarms, for all: the first rank replays and the others hear of it."""
    parts, config, crew = session.parts, session.config, session.crew
    report = _audit(parts, config, state.iteration, crop.dreams) if crew.first else None
    found = report.alarms(config.audit) if report is not None else ()
    alarms: list[str] = json.loads(crew.exchange(json.dumps(found))[0])
    if report is None:
        return {}, alarms
    return report.metrics() | {"audit/warned": float(bool(alarms))}, alarms


def _audit(
    parts: Parts, config: GspoConfig, iteration: int, dreams: tuple[Trajectory, ...]
) -> AuditReport | None:
    """Every `every` iterations, the first included: a world model may be untrue from the beginning."""
    due = config.audit.every > 0 and iteration % config.audit.every == 0
    if parts.audit is None or not due or not dreams:
        return None
    chosen = sorted(
        dreams, key=lambda t: derive_seed(config.seed, "audit", iteration, t.trajectory_id)
    )
    return parts.audit(iteration, chosen[: config.audit.dreams])
