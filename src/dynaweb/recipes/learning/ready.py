"""What every run of a measurement begins from, made once: first agent, world model, judge, and what they cost in real steps."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dynaweb.bench.results import FidelityReport
from dynaweb.collect.run import read_trajectories
from dynaweb.errors import UserError
from dynaweb.recipes import collecting
from dynaweb.recipes.alone import judge_of
from dynaweb.recipes.base import BASE
from dynaweb.recipes.config import MAY_DIFFER
from dynaweb.recipes.gate import gain_of, require_knowledge
from dynaweb.recipes.learning.config import LearningConfig
from dynaweb.recipes.stage import Run
from dynaweb.recipes.whole import imagine
from dynaweb.recipes.worldly import FIDELITY, Imagination, dreamable, open_imagination
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.folder import RunFolder
from dynaweb.runs.jsonfile import read_record, write_record
from dynaweb.runs.progress import Progress

READY = "ready"
COSTS = "costs.json"
MODEL = "model.safetensors"
PAID = ("exploration", "attempts", "held_out")
"""Stages whose real steps made world model and judge and measured them."""
SPENDING = ("experts", *PAID, collecting.OPENINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Real steps spent before the arms part, and what came of them."""

    experts: int
    """Demonstrations: every arm has them."""
    world: int
    """Attempts that world model and judge were trained, calibrated and measured on: arms that dream."""
    openings: int
    """First pages that were opened to begin from: arms that dream, and arms at real pages."""
    tasks_dreamt: tuple[str, ...]
    """Tasks whose held-out steps are imagined rightly often enough; the others are not dreamt of."""
    gain: str
    """What the world model knows beyond copying, in words."""
    judge_false_positives: float | None
    """Share of real failures that it passes, across two halves of the held-out pages."""
    judge_recall: float | None
    """Share of real successes that it finds."""
    local_determined: float | None
    """Share of determined local changes that are imagined exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Read from disk by every run."""

    policy: Path
    """The first agent."""
    world: Path
    """World model and judge."""
    untrained: Path
    """Weights that the world model's training began with."""
    shown: tuple[Trajectory, ...]
    """Demonstrations."""
    own: tuple[Trajectory, ...]
    """The first agent's attempts, of the world model's data."""
    openings: tuple[Trajectory, ...]
    """First pages that nobody acted on."""
    tasks: frozenset[str]
    """That are dreamt of."""
    checksum: str
    """Of the first agent's and the world model's weights."""


def make_ready(
    config: LearningConfig, out: Path, progress: Progress, argv: tuple[str, ...] = ()
) -> Costs:
    """Every stage before the arms, or what is left of them; refused when the world model knows no more than copying.

    Raises:
        UserError: the folder holds another run, or the gate is shut. MissingDependencyError: no browser.
        StorageError: a file is damaged or cannot be written.
    """
    recipe = config.recipe
    with RunFolder(
        out / READY, config=recipe, seed=recipe.seed, argv=argv, may_differ=MAY_DIFFER
    ) as folder:
        run = Run(folder=folder, config=recipe, progress=progress)
        imagine(run)
        collecting.openings(run)
        table = read_record(FidelityReport, run.path("fidelity") / FIDELITY)
        gain = gain_of(table, recipe.gspo.gate.confidence)
        require_knowledge(gain, recipe.gspo.gate)
        steps = {s: round(run.number(s, "live_steps")) for s in run.results if s in SPENDING}
        facts = run.facts("fidelity")
        costs = Costs(
            experts=steps["experts"],
            world=sum(steps[s] for s in PAID),
            openings=steps[collecting.OPENINGS],
            tasks_dreamt=tuple(sorted(dreamable(run))),
            gain=str(gain),
            judge_false_positives=_share(facts["judge_false_positives"]),
            judge_recall=_share(facts["judge_recall"]),
            local_determined=_share(facts["local_determined"]),
        )
    write_record(out / COSTS, costs)
    return costs


def read_ready(config: LearningConfig, out: Path) -> Ready:
    """What `make_ready` left.

    Raises:
        UserError: it has not ended yet. StorageError: a file is damaged.
    """
    folder = out / READY
    costs = read_costs(out)
    practice = config.recipe.policy.base
    return Ready(
        policy=folder / collecting.FIRST_AGENT,
        world=folder / "world",
        untrained=folder / (BASE if practice.find or practice.mixed else collecting.FIRST_AGENT),
        shown=_attempts(folder / "experts"),
        own=_attempts(folder / "attempts"),
        openings=_attempts(folder / collecting.OPENINGS),
        tasks=frozenset(costs.tasks_dreamt),
        checksum=_checksum([folder / collecting.FIRST_AGENT, folder / "world"]),
    )


def read_costs(out: Path) -> Costs:
    """Real steps spent before the arms part.

    Raises:
        UserError: they are not all spent yet. StorageError: the file is damaged.
    """
    if not (out / COSTS).exists():
        raise UserError(
            f"{str(out)!r} has no {COSTS}: what all arms begin from is not ready yet; run the command without --so-far"
        )
    return read_record(Costs, out / COSTS)


def imagination(config: LearningConfig, ready: Ready, *, trained: bool) -> Imagination:
    """The world model and its judge; untrained, the same judge beside weights that have seen no real page.

    Raises:
        StorageError: it cannot be read.
    """
    bars, _ = judge_of(ready.world)
    ask = config.recipe.world.ask
    seen = open_imagination(ready.world, config.recipe.name, ask, bars)
    if trained:
        return seen
    bare = open_imagination(ready.untrained, "untrained", ask, bars)
    return Imagination(world=bare.world, judge=seen.judge)


def _attempts(stage: Path) -> tuple[Trajectory, ...]:
    return tuple(read_trajectories(stage / collecting.EPISODES))


def _share(found: object) -> float | None:
    return found if isinstance(found, float) else None


def _checksum(models: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for folder in models:
        digest.update((folder / MODEL).read_bytes())
    return digest.hexdigest()[:16]
