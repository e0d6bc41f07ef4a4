"""The whole measurement, and one run of it: trained to each checkpoint, evaluated there on unseen real pages.

    run.json         the plan (`config.LearningConfig`); nothing of it follows the results
    ready/           what all runs begin from: a recipe's stages up to a measured world model
    costs.json       its real steps
    runs/ARM-SEED/   training/ with a folder for each checkpoint, evaluation-N/ with plan and raw episodes
    results.json, report.html, figure.svg, episodes.csv   what `closing` makes of it, as often as it is asked

Runs are processes of their own, several at a time where the machine has cores. The same command goes on.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dynaweb.browser.environment import miniwob_world
from dynaweb.collect.run import CollectConfig
from dynaweb.evaluate.plan import EvaluationPlan
from dynaweb.evaluate.run import evaluate_arm
from dynaweb.recipes.config import MAY_DIFFER
from dynaweb.recipes.learning.arms import Course, checkpoint, train_arm
from dynaweb.recipes.learning.config import Arm, LearningConfig
from dynaweb.recipes.learning.fleet import Errand, work_off
from dynaweb.recipes.learning.ready import make_ready, read_ready
from dynaweb.recipes.policy import load_agent
from dynaweb.recipes.stage import Run
from dynaweb.runs.folder import RunFolder
from dynaweb.runs.progress import Progress

SAME = frozenset(f"recipe.{key}" for key in MAY_DIFFER)
"""Settings that change no result."""

Command = Callable[[Arm, int], Sequence[str]]
"""Arm and seed of a run -> the command that makes it, or goes on with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun:
    """What decides a run."""

    learning: LearningConfig
    arm: Arm
    seed: int


def run_name(arm: Arm, seed: int) -> str:
    """Of its folder, and of its arm in the raw episodes."""
    return f"{arm.value}-{seed}"


def run_folder(out: Path, arm: Arm, seed: int) -> Path:
    """Where a run is."""
    return out / "runs" / run_name(arm, seed)


def all_runs(config: LearningConfig) -> tuple[tuple[Arm, int], ...]:
    """Every run, those of the first seed first, so that a measurement that is stopped has a curve an arm."""
    order = (
        Arm.SFT,
        Arm.LIVE,
        Arm.DREAMS,
        Arm.SFT_MORE,
        Arm.UNTRAINED,
        Arm.DREAMS_ONLY,
        Arm.FILTERED,
    )
    return tuple(
        (arm, seed) for seed in config.seeds for arm in order if seed in config.seeds_of(arm)
    )


def measure_learning(
    config: LearningConfig,
    out: Path,
    command: Command,
    *,
    jobs: int,
    progress: Progress,
    argv: tuple[str, ...] = (),
) -> None:
    """Make every run that is not made yet.

    Args:
        config: the plan.
        out: folder of the measurement.
        command: see `Command`; started `jobs` at a time.
        jobs: runs at a time; changes no result.
        progress: told how far it is.
        argv: the command, for the record.

    Raises:
        UserError: the folder holds another plan, or the world model knows no more than copying.
        TrainingError: a run ended in error; its last line is in the message.
        MissingDependencyError: no browser. StorageError: a file is damaged or cannot be written.
    """
    with RunFolder(out, config=config, seed=config.recipe.seed, argv=argv, may_differ=SAME):
        make_ready(config, out, progress, argv)
        errands = [
            Errand(
                name=run_name(arm, seed),
                command=command(arm, seed),
                after=run_name(Arm.LIVE, seed) if arm is Arm.FILTERED else None,
            )
            for arm, seed in all_runs(config)
        ]
        work_off(errands, jobs, progress)


def make_run(
    config: LearningConfig,
    out: Path,
    arm: Arm,
    seed: int,
    progress: Progress,
    argv: tuple[str, ...] = (),
) -> None:
    """Train and evaluate one run, or go on with it.

    Raises:
        UserError: what all runs begin from is not ready, or the folder holds another run.
        TrainingError, MissingDependencyError, StorageError: as for `train_arm`.
    """
    ready = read_ready(config, out)
    one = OneRun(learning=config, arm=arm, seed=seed)
    may_differ = frozenset(f"learning.{key}" for key in SAME)
    path = run_folder(out, arm, seed)
    with RunFolder(path, config=one, seed=seed, argv=argv, may_differ=may_differ) as folder:
        run = Run(folder=folder, config=config.recipe, progress=progress)
        inputs = {"arm": arm, "seed": seed, "ready": ready.checksum}
        if arm is Arm.SFT:
            _evaluate(run, one, config.checkpoints, ready.policy, inputs)
            return
        course = Course(
            config=config,
            arm=arm,
            seed=seed,
            ready=ready,
            run=run,
            live=run_folder(out, Arm.LIVE, seed) if arm is Arm.FILTERED else None,
        )

        def train(stage: Path) -> Mapping[str, object]:
            spent = train_arm(course)
            return {**asdict(spent), "seconds_so_far": float(spent.seconds)}

        run.stage("training", inputs, train)
        # the last one first: a measurement that is stopped has the ends of its curves
        for number in range(config.checkpoints, 0, -1):
            _evaluate(run, one, number, checkpoint(path, number), inputs)


def evaluation_plan(one: OneRun, number: int) -> EvaluationPlan:
    """Pages of a run's evaluation at a checkpoint; comparisons are made of all runs together (`closing`)."""
    recipe = one.learning.recipe
    return EvaluationPlan(
        tasks=recipe.tasks,
        seeds=one.learning.pages(one.seed, number),
        arms=(run_name(one.arm, one.seed),),
        comparisons=(),
        max_steps=recipe.evaluation.max_steps,
        temperature=0.0,
        statistics=recipe.evaluation.statistics,
    )


def evaluation_stage(number: int) -> str:
    """Name of the stage that evaluates a checkpoint."""
    return f"evaluation-{number}"


def _evaluate(run: Run, one: OneRun, number: int, policy: Path, inputs: object) -> None:
    plan = evaluation_plan(one, number)
    name, recipe = run_name(one.arm, one.seed), run.config

    def work(stage: Path) -> Mapping[str, object]:
        agent = load_agent(
            policy, name, recipe.agent_at(plan.temperature), threads=recipe.live_threads
        )

        async def go() -> int:
            async with miniwob_world(recipe.browser) as make_env:
                how = CollectConfig(workers=recipe.live_workers, seed=recipe.seed)
                return len(
                    await evaluate_arm(plan, name, stage, agent, make_env, how, run.progress)
                )

        return {"episodes": asyncio.run(go())}

    run.stage(evaluation_stage(number), {"plan": asdict(plan), "from": inputs}, work)
