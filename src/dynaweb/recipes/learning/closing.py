"""From what is measured to tables, page, figure and raw outcomes; cheap, so they are made anew every time."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from dynaweb.collect.run import read_trajectories
from dynaweb.evaluate.learning import MeasuredPoint, Spent, learning_results
from dynaweb.evaluate.run import episodes_file, last_attempts
from dynaweb.evaluate.statistics import EpisodeOutcome, outcomes_of
from dynaweb.recipes.learning.arms import SPENT, checkpoint, read_spent
from dynaweb.recipes.learning.config import (
    AT_PAGES,
    COMPARISONS,
    DREAMERS,
    IN_WORDS,
    Arm,
    LearningConfig,
)
from dynaweb.recipes.learning.ready import Costs, read_costs
from dynaweb.recipes.learning.run import all_runs, evaluation_stage, run_folder, run_name
from dynaweb.records.trajectory import Outcome
from dynaweb.report.learning.data import LearningReport, RunSpent
from dynaweb.report.learning.figure import learning_figure, standalone
from dynaweb.report.learning.page import render_learning
from dynaweb.report.words import percent
from dynaweb.runs.atomic import read_json, write_text
from dynaweb.runs.jsonfile import write_record
from dynaweb.runs.provenance import provenance

RESULTS, PAGE, FIGURE, EPISODES = "results.json", "report.html", "figure.svg", "episodes.csv"
SIGNS = {Outcome.SUCCESS: "1", Outcome.FAILURE: "0", Outcome.UNKNOWN: "?"}


def close(config: LearningConfig, out: Path) -> LearningReport:
    """Write tables, page, figure and outcomes of every run that is measured.

    Raises:
        UserError: nothing is measured. StorageError: a file is damaged or cannot be written.
    """
    costs = read_costs(out)
    points, missing = measured_points(config, out, costs)
    results = learning_results(
        {arm.value: words for arm, words in IN_WORDS.items()},
        COMPARISONS,
        points,
        config.recipe.evaluation.statistics,
        missing,
    )
    report = LearningReport(
        name=config.name,
        results=results,
        experts_steps=costs.experts,
        world_steps=costs.world,
        opening_steps=costs.openings,
        trainings=_trainings(config, out),
        facts=_facts(config, costs),
        machine={k: str(v) for k, v in provenance().machine.items()},
        commit=_begun_with(out),
    )
    write_record(out / RESULTS, report)
    figure = learning_figure(report)
    write_text(out / FIGURE, standalone(figure))
    write_text(out / PAGE, render_learning(report, config.recipe.tasks))
    write_text(out / EPISODES, episodes_table(points))
    return report


def measured_points(
    config: LearningConfig, out: Path, costs: Costs
) -> tuple[list[MeasuredPoint], list[str]]:
    """Every evaluation that has ended, and the names of those that have not."""
    points, missing = [], []
    for arm, seed in all_runs(config):
        folder = run_folder(out, arm, seed)
        for number in range(1, config.checkpoints + 1):
            if arm is Arm.SFT and number < config.checkpoints:
                continue
            stage = folder / evaluation_stage(number)
            if read_json(stage / "stage.done.json") is None:
                missing.append(f"{run_name(arm, seed)} at checkpoint {number}")
                continue
            spent = Spent(seconds=0.0, units=0) if arm is Arm.SFT else read_spent(folder, number)
            points.append(
                MeasuredPoint(
                    arm=arm.value,
                    seed=seed,
                    checkpoint=0 if arm is Arm.SFT else number,
                    live_steps=paid_before(arm, costs) + spent.live_steps,
                    seconds=spent.seconds,
                    episodes=_outcomes(stage, run_name(arm, seed)),
                )
            )
    return points, missing


def paid_before(arm: Arm, costs: Costs) -> int:
    """Real steps an arm has paid for before its first update."""
    steps = costs.experts
    if arm in DREAMERS or arm in AT_PAGES:
        steps += costs.openings
    return steps + (costs.world if arm in DREAMERS else 0)


def episodes_table(points: Sequence[MeasuredPoint]) -> str:
    """Raw outcomes as CSV, a line for each run, checkpoint and task: one sign a page, in the order of the pages."""
    lines = ["arm,seed,checkpoint,live_steps,task,pages,outcomes"]
    for p in points:
        by_task: dict[str, list[EpisodeOutcome]] = {}
        for e in p.episodes:
            by_task.setdefault(e.task, []).append(e)
        for task, episodes in sorted(by_task.items()):
            ordered = sorted(episodes, key=lambda e: e.seed)
            pages = _range([e.seed for e in ordered])
            signs = "".join(SIGNS[e.outcome] for e in ordered)
            lines.append(f"{p.arm},{p.seed},{p.checkpoint},{p.live_steps},{task},{pages},{signs}")
    return "\n".join(lines) + "\n"


def _range(pages: Sequence[int]) -> str:
    """`5000000`, `5000000-5000014`, or with the distance of two where it is not one: `5000001-5000013/3`."""
    if len(pages) == 1:
        return str(pages[0])
    steps = {b - a for a, b in pairwise(pages)}
    if len(steps) > 1:
        return " ".join(map(str, pages))
    step = next(iter(steps))
    return f"{pages[0]}-{pages[-1]}" + (f"/{step}" if step > 1 else "")


def _outcomes(stage: Path, name: str) -> tuple[EpisodeOutcome, ...]:
    return outcomes_of(last_attempts(tuple(read_trajectories(episodes_file(stage, name)))))


def _trainings(config: LearningConfig, out: Path) -> tuple[RunSpent, ...]:
    """What every run whose training has ended made of its budget."""
    found = []
    for arm, seed in all_runs(config):
        folder = run_folder(out, arm, seed)
        if (checkpoint(folder, config.checkpoints) / SPENT).exists():
            spent = replace(read_spent(folder, config.checkpoints), live_files=())
            found.append(RunSpent(arm=arm.value, seed=seed, spent=spent))
    return tuple(found)


def _facts(config: LearningConfig, costs: Costs) -> dict[str, str]:
    """What the arms had to learn in, in words."""
    how, lacking = config.recipe.evaluation, set(config.recipe.tasks) - set(costs.tasks_dreamt)
    return {
        "pages": f"{len(config.recipe.tasks)} tasks, {how.episodes} unseen pages each from seed {how.first_seed} on, greedy, "
        f"at most {how.max_steps} actions",
        "world model": f"{costs.gain}; determined local changes exact {percent(costs.local_determined)}",
        "judge": f"passes {percent(costs.judge_false_positives)} of real failures, finds {percent(costs.judge_recall)} of real successes",
        "not dreamt of": ", ".join(sorted(lacking)) or "none: every task",
    }


def _begun_with(out: Path) -> str:
    commit = (read_json(out / "run.json") or {}).get("commit")
    return str(commit or "")
