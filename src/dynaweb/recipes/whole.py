"""The whole loop as one function: real pages, dreams, a better agent, the proof, the report.

Calling it again on the same folder goes on where it stopped; finished stages are not done again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dynaweb.recipes import collecting, controls, dreaming, proof, worldly
from dynaweb.recipes.base import BASE, learn_to_read
from dynaweb.recipes.closing import close
from dynaweb.recipes.config import MAY_DIFFER, RecipeConfig
from dynaweb.recipes.policy import learn_tokenizer, only_successes, train_policy
from dynaweb.recipes.stage import Run
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.folder import RunFolder
from dynaweb.runs.progress import Progress, silent


def run_whole(
    config: RecipeConfig,
    out: Path,
    progress: Progress = silent,
    argv: tuple[str, ...] = (),
) -> Path:
    """Run a recipe, or go on with it.

    Args:
        config: everything that decides the run.
        out: run folder.
        progress: told how far each stage is.
        argv: the command, for the record.

    Returns:
        The report, one HTML file.

    Raises:
        UserError: the folder holds another run, or the configuration cannot work.
        MissingDependencyError: no browser. StorageError: a file is damaged or cannot be written.
    """
    with RunFolder(
        out, config=config, seed=config.seed, argv=argv, may_differ=MAY_DIFFER
    ) as folder:
        run = Run(folder=folder, config=config, progress=progress)
        ready = prepare(run)
        dreamer = dreaming.train_in_dreams(run, ready.begun, ready.world, ready.places)
        dreaming.audit_policy(run, dreamer, ready.world, ready.places)
        more = controls.train_more(run, ready.policy, ready.shown)
        filtered = controls.filtered_attempts(run, ready.policy, ready.own)
        cloned = controls.train_filtered(run, ready.policy, ready.shown, filtered)
        arms = {
            collecting.FIRST_AGENT: ready.policy,
            controls.SFT_MORE: more,
            controls.FILTERED: cloned,
            proof.DYNAWEB: dreamer,
        }
        proof.evaluate(run, arms)
        return close(run, [*ready.real, *ready.unseen])


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Everything that dreaming needs, and what it was made from."""

    policy: Path
    """The first agent."""
    begun: Path
    """The agent that begins to dream."""
    world: Path
    """World model and judge, measured."""
    places: list[Trajectory]
    """Real attempts whose states dreams begin from."""
    shown: list[Trajectory]
    """Demonstrations."""
    own: list[Trajectory]
    """The first agent's attempts."""
    real: list[Trajectory]
    """All attempts that anything learns from."""
    unseen: list[Trajectory]
    """Held-out attempts."""


def prepare(run: Run) -> Prepared:
    """Every stage before the dreams; those that are done are only read."""
    proof.fix_plan(run)
    made = imagine(run)
    begun = own_successes(run, made.policy, made.shown, made.own)
    return Prepared(
        policy=made.policy,
        begun=begun,
        world=made.world,
        places=[*made.shown, *made.own, *collecting.openings(run)],
        shown=made.shown,
        own=made.own,
        real=made.real,
        unseen=made.unseen,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Imagined:
    """A world model with its judge, measured, and what they were made from."""

    policy: Path
    """The first agent."""
    world: Path
    shown: list[Trajectory]
    """Demonstrations."""
    own: list[Trajectory]
    """The first agent's attempts."""
    real: list[Trajectory]
    """All attempts that world model and judge learnt from."""
    unseen: list[Trajectory]
    """Those that they were measured on."""


def imagine(run: Run) -> Imagined:
    """Every stage up to a measured world model; those that are done are only read."""
    run.config.require_told_alike()
    shown = collecting.experts(run)
    explored = collecting.exploration(run)
    policy = first_agent(run, shown, explored)
    own = collecting.attempts(run, policy)
    unseen = collecting.held_out(run, policy)
    real = [*shown, *explored, *own]
    world = worldly.train_imagination(run, real, reader(run, policy))
    worldly.measure_imagination(run, world, real, unseen)
    return Imagined(policy=policy, world=world, shown=shown, own=own, real=real, unseen=unseen)


def run_to_dreams(
    config: RecipeConfig, out: Path, progress: Progress = silent, argv: tuple[str, ...] = ()
) -> Path:
    """A recipe up to its dreams, without controls and evaluation; resumable like the whole.

    Returns:
        Folder of the training in dreams.

    Raises:
        UserError, MissingDependencyError, StorageError: as for `run_whole`.
    """
    with RunFolder(
        out, config=config, seed=config.seed, argv=argv, may_differ=MAY_DIFFER
    ) as folder:
        run = Run(folder=folder, config=config, progress=progress)
        ready = prepare(run)
        return dreaming.train_in_dreams(run, ready.begun, ready.world, ready.places)


def reader(run: Run, policy: Path) -> Path:
    """The base where the recipe has one, else the first agent."""
    practice = run.config.policy.base
    return run.path(BASE) if practice.find or practice.mixed else policy


def first_agent(run: Run, shown: list[Trajectory], explored: list[Trajectory]) -> Path:
    """A tokenizer for everything, a base that can read pages, and the agent that demonstrations make of it."""
    config = run.config
    words = {
        "attempts": [run.made(run.path("experts")), run.made(run.path("exploration"))],
        "vocab_size": config.policy.vocab_size,
    }

    def learn(folder: Path) -> Mapping[str, object]:
        run.progress("tokenizer", 0, 1)
        facts = learn_tokenizer([*shown, *explored], config, folder)
        run.progress("tokenizer", 1, 1)
        return facts

    run.stage("tokenizer", words, learn)
    base = learn_to_read(run, run.path("tokenizer"))

    def train(folder: Path) -> Mapping[str, object]:
        return train_policy(
            shown,
            folder,
            words=run.path("tokenizer"),
            how=config.policy.fit,
            config=config,
            progress=run.progress,
            stage="sft",
            begin=base,
        )

    inputs = {
        "words": words,
        "policy": config.policy,
        "seed": config.seed,
        "base": run.made(base),
    }
    run.stage("sft", inputs, train)
    return run.path("sft")


def own_successes(
    run: Run, policy: Path, shown: Sequence[Trajectory], own: Sequence[Trajectory]
) -> Path:
    """Where dreaming begins: the first agent, trained on with what it did well in the real web."""
    config = run.config
    if not config.policy.own_epochs:
        return policy
    learnt = [*shown, *only_successes(own)]
    inputs = {
        "policy": run.made(policy),
        "epochs": config.policy.own_epochs,
        "attempts": sorted(t.trajectory_id for t in learnt),
    }

    def train(folder: Path) -> Mapping[str, object]:
        return train_policy(
            learnt,
            folder,
            words=policy,
            how=replace(config.policy.fit, epochs=config.policy.own_epochs),
            config=config,
            progress=run.progress,
            stage=controls.OWN,
            begin=policy,
        )

    run.stage(controls.OWN, inputs, train)
    return run.path(controls.OWN)
