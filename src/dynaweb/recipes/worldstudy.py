"""How good a small world model and its judge get: a recipe up to their measure on unseen pages, and the numbers in one table.

What is measured is fixed beforehand (`GOALS`), intervals draw whole tasks, and beside every share stands what needs no model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dynaweb.bench.results import FidelityReport, FidelityRow, JudgeReport, JudgeRow, Mean, Share
from dynaweb.evaluate.statistics import clustered_mean
from dynaweb.lm.model import load_model
from dynaweb.recipes.base import BASE
from dynaweb.recipes.config import MAY_DIFFER, RecipeConfig
from dynaweb.recipes.stage import Run
from dynaweb.recipes.whole import imagine
from dynaweb.recipes.worldly import FIDELITY, JUDGE, JUDGE_PLAIN
from dynaweb.runs.folder import RunFolder
from dynaweb.runs.jsonfile import read_record, write_record
from dynaweb.runs.progress import Progress, silent
from dynaweb.runs.provenance import provenance

STUDY_FILE = "world_study.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A share of what is held out, and how sure it is."""

    name: str
    """Field of `FidelityRow` or `JudgeRow`."""
    total: float
    """Hits, or the sum of a mean."""
    n: int
    tasks: int
    """Tasks that it comes from."""
    mean: float | None
    """total / n; None when nothing was counted."""
    low: float | None
    """Interval, from a bootstrap that draws whole tasks; None with fewer than two of them."""
    high: float | None
    beside: float | None = None
    """The same without a model: copying the page, or saying what most attempts of a task come to; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goals:
    """What was wanted, fixed before the first measurement (ours)."""

    local: float = 0.90
    """Determined changes of parts of a page that are exact, at least."""
    accuracy: float = 0.95
    """Verdicts that are right, at least."""
    false_positives: float = 0.05
    """Real failures called success, less than."""
    failures: int = 200
    """Real failures that this is measured on, at least."""
    parameters: int = 5_000_000
    """Of the model, at most."""
    seconds: float = 1800.0
    """Of training, base included, at most: on two cores that nothing else uses."""
    tasks: int = 20
    """At least."""


GOALS = Goals()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldStudy:
    """A small world model and its judge on pages that nothing was trained on."""

    commit: str
    machine: Mapping[str, str | int]
    tasks: int
    parameters: int
    threads: int
    base_seconds: float
    """Wall clock of the exercises in reading that it began from."""
    seconds: float
    """Wall clock of its own training; whatever else the machine did is in it."""
    steps: int
    tokens: int
    """Read in its own training."""
    attempts: int
    """Real attempts that it learnt from."""
    live_steps: int
    """Real actions in them."""
    unseen: int
    """Held-out attempts."""
    world: tuple[Measure, ...]
    """On all held-out attempts."""
    judge: tuple[Measure, ...]
    """On the agent's own, success from a probability of one half on."""
    judge_with_bars: tuple[Measure, ...]
    """The same attempts, decided by bars that were set on the other half of the pages; a verdict may be unknown."""
    by_task: tuple[FidelityRow, ...]
    judge_by_task: tuple[JudgeRow, ...]
    goals: Goals = field(default_factory=Goals)

    def measure(self, name: str) -> Measure:
        """One number of the world model or of the judge without bars."""
        return next(m for m in (*self.world, *self.judge) if m.name == name)


BESIDE = {
    "local": "copy_of_local",
    "local_determined": "copy_of_local",
    "any_page": "any_page_copy",
    "element_f1": "element_f1_copy",
    "right": "commoner",
    "right_of_decided": "commoner",
}
"""Number -> the one without a model; a change of parts beyond the rules is nothing that a copy could have."""

WORLD = (
    "local_determined",
    "local",
    "full_page_determined",
    "full_page",
    "unchanged",
    "by_rules",
    "settled",
    "ended",
    "end_precision",
    "any_page",
    "element_f1",
    "invalid",
    "repaired",
)
VERDICTS = (
    "right",
    "right_of_decided",
    "false_positives",
    "recall",
    "false_negatives",
    "unknown",
)


def study_world(
    config: RecipeConfig, out: Path, progress: Progress = silent, argv: tuple[str, ...] = ()
) -> WorldStudy:
    """Collect, train and measure, or go on with it; the table is in `world_study.json`.

    Args:
        config: everything that decides the run.
        out: run folder.
        progress: told how far each stage is.
        argv: the command, for the record.

    Raises:
        UserError: the folder holds another run, or the configuration cannot work.
        MissingDependencyError: no browser. StorageError: a file is damaged or cannot be written.
    """
    with RunFolder(
        out, config=config, seed=config.seed, argv=argv, may_differ=MAY_DIFFER
    ) as folder:
        run = Run(folder=folder, config=config, progress=progress)
        made = imagine(run)
        measured = run.path("fidelity")
        table = read_record(FidelityReport, measured / FIDELITY)
        plain = read_record(JudgeReport, measured / JUDGE_PLAIN)
        barred = read_record(JudgeReport, measured / JUDGE)
        ran = provenance()
        found = WorldStudy(
            commit=ran.commit + ("+" if ran.dirty else ""),
            machine=ran.machine,
            tasks=len(config.tasks),
            parameters=load_model(made.world).num_parameters(),
            threads=config.threads,
            base_seconds=run.seconds(BASE) if BASE in run.results else 0.0,
            seconds=run.seconds("world"),
            steps=int(run.number("world", "steps")),
            tokens=int(run.number("world", "tokens")),
            attempts=len(made.real),
            live_steps=sum(len(t.steps) for t in made.real),
            unseen=len(made.unseen),
            world=measures(table.by_task, WORLD),
            judge=measures(plain.by_task, VERDICTS),
            judge_with_bars=measures(barred.by_task, VERDICTS),
            by_task=table.by_task,
            judge_by_task=plain.by_task,
        )
        write_record(out / STUDY_FILE, found)
        return found


def measures(
    rows: Sequence[FidelityRow] | Sequence[JudgeRow], names: Sequence[str]
) -> tuple[Measure, ...]:
    """Numbers over all tasks from a row for each, with intervals that draw whole rows."""
    return tuple(_measure(rows, name) for name in names)


def _measure(rows: Sequence[FidelityRow] | Sequence[JudgeRow], name: str) -> Measure:
    clusters = [c for c in (_counted(getattr(row, name)) for row in rows) if c[1]]
    if not clusters:
        return Measure(name=name, total=0.0, n=0, tasks=0, mean=None, low=None, high=None)
    mean, low, high = clustered_mean(clusters)
    return Measure(
        name=name,
        total=sum(total for total, _ in clusters),
        n=sum(n for _, n in clusters),
        tasks=len(clusters),
        mean=mean,
        low=low,
        high=high,
        beside=_beside(rows, name),
    )


def _beside(rows: Sequence[FidelityRow] | Sequence[JudgeRow], name: str) -> float | None:
    match BESIDE.get(name):
        case None:
            return None
        case "copy_of_local":
            return 0.0
        case other:
            counted = [_counted(getattr(row, other)) for row in rows]
            return sum(total for total, _ in counted) / sum(n for _, n in counted)


def _counted(value: Share | Mean) -> tuple[float, int]:
    return (value.hits, value.n) if isinstance(value, Share) else (value.total, value.n)


def missed(study: WorldStudy) -> list[str]:
    """Goals that were not reached, a line each."""
    goals, said = study.goals, []
    local, right = study.measure("local_determined"), study.measure("right")
    passed = study.measure("false_positives")
    if study.tasks < goals.tasks:
        said.append(f"{study.tasks} tasks, at least {goals.tasks} wanted")
    if local.mean is None or local.mean < goals.local:
        said.append(
            f"determined local changes: {_of(local)} exact, at least {goals.local:.0%} wanted"
        )
    if right.mean is None or right.mean < goals.accuracy:
        said.append(f"judge: {_of(right)} right, at least {goals.accuracy:.0%} wanted")
    if passed.mean is None or passed.mean >= goals.false_positives:
        said.append(
            f"judge: {_of(passed)} real failures passed, less than {goals.false_positives:.0%} wanted"
        )
    if passed.n < goals.failures:
        said.append(f"judge: {passed.n} real failures, at least {goals.failures} wanted")
    if study.parameters > goals.parameters:
        said.append(f"{study.parameters:,} parameters, at most {goals.parameters:,} wanted")
    if (took := study.base_seconds + study.seconds) > goals.seconds:
        said.append(
            f"{took:,.0f} s of training, at most {goals.seconds:,.0f} s wanted (on a machine that does nothing else)"
        )
    return said


def _of(m: Measure) -> str:
    return f"{m.total:.0f} of {m.n}" + (f" ({m.mean:.1%})" if m.mean is not None else "")
