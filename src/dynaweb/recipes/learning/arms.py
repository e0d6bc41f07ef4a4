"""How each arm learns: from the first agent to its checkpoints, by the same trainers as every recipe.

A checkpoint that is whole is never made again. Supervised arms go from one to the next by a training of their own;
arms that reinforce go on with one training, from its beginning to its end exact to the bit.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from transformers import PreTrainedModel

from dynaweb.batch.source import Source
from dynaweb.batch.summary import Metrics
from dynaweb.collect.run import read_trajectories
from dynaweb.dream.starts import StartPoint, StartsConfig, collect_starts
from dynaweb.evaluate.learning import Spent
from dynaweb.gspo.config import DemonstrationsConfig, GspoConfig
from dynaweb.gspo.progress import METRICS
from dynaweb.gspo.readable import readable
from dynaweb.gspo.sources import LiveConfig
from dynaweb.gspo.train import Parts, train_gspo
from dynaweb.lm.language import Language
from dynaweb.lm.model import context_length, load_model, save_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import load_language
from dynaweb.recipes.attempting import LIVE, live_attempts
from dynaweb.recipes.collecting import FIRST_AGENT
from dynaweb.recipes.dreaming import shown_again
from dynaweb.recipes.learning.config import Arm, LearningConfig
from dynaweb.recipes.learning.ready import Ready, imagination
from dynaweb.recipes.policy import only_successes, train_policy
from dynaweb.recipes.stage import Run
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.jsonfile import read_record, write_record
from dynaweb.runs.jsonl import read_prefix

SPENT = "spent.json"
FEW = 3
"""Iterations at either end of a training over which a reward is averaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One run under way."""

    config: LearningConfig
    arm: Arm
    seed: int
    ready: Ready
    run: Run
    live: Path | None = None
    """Folder of the finished live run of the same seed, for the arm that learns from its attempts."""


def checkpoint(run: Path, number: int) -> Path:
    """Folder of a run's agent at its checkpoint, from 1."""
    return run / "training" / f"checkpoint-{number}"


def read_spent(run: Path, number: int) -> Spent:
    """What a run had spent by a checkpoint.

    Raises:
        StorageError: it is not whole, or damaged.
    """
    return read_record(Spent, checkpoint(run, number) / SPENT)


def train_arm(course: Course) -> Spent:
    """Train a run to its last checkpoint, or go on with it.

    Raises:
        StorageError: a file is damaged or cannot be written. TrainingError: see `train_gspo` and `fit`.
        MissingDependencyError: no browser.
    """
    torch.set_num_threads(course.config.recipe.threads)
    shown = course.ready.shown
    match course.arm:
        case Arm.SFT:
            raise ValueError("the first agent is not trained on")
        case Arm.SFT_MORE:
            return _supervised(course, lambda number: shown)
        case Arm.FILTERED:
            return _supervised(course, lambda number: (*shown, *_live_successes(course, number)))
        case Arm.LIVE:
            return _reinforced(course, course.config.live_iterations)
        case Arm.DREAMS | Arm.DREAMS_ONLY | Arm.UNTRAINED:
            return _reinforced(course, course.config.dream_iterations)


def gspo_of(config: LearningConfig, arm: Arm, seed: int) -> GspoConfig:
    """The trainer's settings for an arm; what is not named here is that of `recipe.gspo`."""
    base = replace(config.recipe.gspo, seed=derive_seed(seed, "learning", arm.value) % 2**31)
    alone = replace(base.mix, expert_share=0.0, live_share=0.0)
    if arm is Arm.LIVE:
        return replace(
            base,
            groups=config.live_groups,
            resample_rounds=0,
            mix=alone,
            starts=StartsConfig(intermediate_share=0.0, expert_share=0.0, adapt=base.starts.adapt),
            live=LiveConfig(share=1.0, max_steps=base.dream.max_steps),
        )
    if arm is Arm.DREAMS_ONLY:
        return replace(
            base, mix=alone, update=replace(base.update, demonstrations=DemonstrationsConfig())
        )
    return base


def _supervised(course: Course, data: Callable[[int], Sequence[Trajectory]]) -> Spent:
    """From checkpoint to checkpoint, each a training that begins with the agent before."""
    recipe, folder = course.config.recipe, course.run.folder.path
    begin, before, spent = course.ready.policy, 0, 0.0
    for number, upto in enumerate(course.config.sft_steps, 1):
        point = checkpoint(folder, number)
        if not (point / SPENT).exists():
            seed = derive_seed(course.seed, "learning", course.arm.value, number) % 2**31
            learnt = data(number)
            facts = train_policy(
                learnt,
                point,
                words=begin,
                how=replace(
                    recipe.policy.fit, steps=upto - before, epochs=None, max_seconds=None, seed=seed
                ),
                config=recipe,
                progress=course.run.progress,
                stage=f"{course.arm} {number}",
                begin=begin,
            )
            took = facts["seconds_so_far"]
            assert isinstance(took, float)
            counts = facts["counts"]
            assert isinstance(counts, dict)
            live = read_spent(course.live, number).live_steps if course.live is not None else 0
            write_record(
                point / SPENT,
                Spent(seconds=spent + took, units=upto, live_steps=live, counts=counts),
            )
        begin, before = point, upto
        spent = read_spent(folder, number).seconds
    return read_spent(folder, course.config.checkpoints)


def _live_successes(course: Course, number: int) -> list[Trajectory]:
    """What the live run had done well by its checkpoint of the same number: real attempts, filtered by the real reward."""
    assert course.live is not None
    kept = course.live / "training" / LIVE
    files = read_spent(course.live, number).live_files
    return only_successes(t for name in files for t in read_trajectories(kept / name))


def _reinforced(course: Course, iterations: Sequence[int]) -> Spent:
    """One training with GSPO, and its weights at every checkpoint."""
    folder = course.run.folder.path
    for number, upto in enumerate(iterations, 1):
        point = checkpoint(folder, number)
        if (point / SPENT).exists():
            continue
        # a training that goes on begins with the first weights: they are part of what it is
        language, model = load_language(course.ready.policy), load_model(course.ready.policy)
        training = folder / "training"
        gspo = replace(gspo_of(course.config, course.arm, course.seed), iterations=upto)
        sampler = TorchSampler(model, language.tokenizer, FIRST_AGENT)
        parts, counts = _parts(course, gspo, model, sampler, language)
        result = train_gspo(parts, gspo, training, course.run.progress)
        language.save(point)
        save_model(model, point)
        files = sorted(p.name for p in (training / LIVE).glob("*.jsonl"))
        rows = [json.loads(line) for line in read_prefix(training / METRICS).lines]
        write_record(point / SPENT, replace(_spent(rows, result.live_steps, files), counts=counts))
    return read_spent(folder, len(iterations))


def _parts(
    course: Course,
    gspo: GspoConfig,
    model: PreTrainedModel,
    sampler: TorchSampler,
    language: Language,
) -> tuple[Parts, dict[str, int]]:
    """What the training is made of, and how many starts there are and are left out."""
    config, ready = course.config, course.ready
    kept = course.run.folder.path / "training" / LIVE
    recipe = replace(config.recipe, gspo=gspo)
    live = course.arm is Arm.LIVE
    places = ready.openings if live else (*ready.shown, *ready.own, *ready.openings)
    seen = None if live else imagination(config, ready, trained=course.arm is not Arm.UNTRAINED)
    run = replace(course.run, config=recipe)
    starts, counts = _starts(course, places, gspo, language, context_length(model))
    parts = Parts(
        policy=model,
        name=FIRST_AGENT,
        sampler=sampler,
        language=language,
        world=seen.world if seen is not None else None,
        judge=seen.judge if seen is not None else None,
        starts=starts,
        demonstrations=shown_again(run, model, language, ready.shown),
        live=live_attempts(recipe, sampler, language, kept),
    )
    return parts, counts


def _starts(
    course: Course,
    places: Sequence[Trajectory],
    gspo: GspoConfig,
    language: Language,
    context: int,
) -> tuple[tuple[StartPoint, ...], dict[str, int]]:
    allowed = (
        frozenset(course.config.recipe.tasks) if course.arm is Arm.LIVE else course.ready.tasks
    )
    mine = [t for t in places if t.task in allowed]
    found = collect_starts(mine, gspo.starts)
    points, unread = readable(found.points, language, context=context, room=gspo.max_new_tokens)
    left_out = Counter(found.dropped) + Counter(unread)
    left_out["task_not_dreamt"] = sum(len(t.steps) for t in places) - found.seen
    return points, {"starts": len(points)} | {f"dropped.{r}": n for r, n in (+left_out).items()}


def _spent(rows: Sequence[Metrics], live_steps: int, files: Sequence[str]) -> Spent:
    """Rows of all iterations until now, added up."""
    total: Counter[str] = Counter()
    for row in rows:
        total.update({k: v for k, v in row.items() if v is not None})
    fresh = Source.LIVE if live_steps else Source.DREAM
    return Spent(
        seconds=round(total["dreams_sec"] + total["update_sec"], 1),
        units=len(rows),
        live_steps=live_steps,
        live_files=tuple(files),
        groups=round(total["groups"]),
        groups_taught=round(total["groups_trained"]),
        attempts=round(total[f"{fresh.value}/attempts"]),
        unknown=round(total["members_unknown"]),
        reward_first=_reward(rows[:FEW], fresh),
        reward_last=_reward(rows[-FEW:], fresh),
    )


def _reward(rows: Sequence[Metrics], fresh: Source) -> float | None:
    """Mean reward of the fresh attempts of some iterations, each attempt weighing the same."""
    rated = [
        (reward, members)
        for r in rows
        if (reward := r.get(f"{fresh.value}/reward")) is not None
        and (members := r.get(f"{fresh.value}/members"))
    ]
    n = sum(m for _, m in rated)
    return sum(r * m for r, m in rated) / n if n else None
