"""The stages around the world model: train it with its judge, set the judge's bar, measure both."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from dynaweb.bench.determined import learn_tasks
from dynaweb.bench.fidelity import compare, fidelity
from dynaweb.bench.judge_table import asked_ids, judge_table
from dynaweb.bench.results import FidelityReport
from dynaweb.dataset.split import require_disjoint, split_by_seed
from dynaweb.errors import UserError
from dynaweb.judge.calibrate import (
    Calibration,
    Scored,
    calibrate_tasks,
    load_calibration,
    save_calibration,
)
from dynaweb.judge.config import Bar, JudgeConfig
from dynaweb.judge.measure import Judged, judge_blind
from dynaweb.judge.model import LmJudge, decide
from dynaweb.lm.model import load_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import load_language
from dynaweb.prompts.pointers import Lexicon
from dynaweb.recipes.policy import fit_facts, fit_progress
from dynaweb.recipes.stage import Run
from dynaweb.records.trajectory import Behaviour, Trajectory
from dynaweb.report.choose import choose_pages
from dynaweb.report.data import DreamedPages
from dynaweb.runs.jsonfile import read_record, write_record
from dynaweb.world.config import WorldModelConfig
from dynaweb.world.model import PatchWorldModel
from dynaweb.world.train import train_world

CALIBRATION = "calibration"
FIDELITY = "fidelity.json"
JUDGE = "judge.json"
JUDGE_PLAIN = "judge_plain.json"
"""The same verdicts without bars: success from a probability of one half on."""
FOLD = 0.5
"""The held-out pages in two halves: each half's bars are measured on the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imagination:
    """A world model and its judge, ready to be asked; one set of weights."""

    world: PatchWorldModel
    judge: LmJudge


def train_imagination(run: Run, trajectories: Sequence[Trajectory], begin: Path) -> Path:
    """One model for both, from weights that have learnt to read pages and to copy.

    Args:
        run: the recipe.
        trajectories: real attempts, successes and failures.
        begin: folder of the weights: the base, or the first agent where there is none. An agent that was
            trained until nothing more could be learnt from its demonstrations is a worse beginning (log, 2026-11-30).
    """
    config = run.config
    inputs = {
        "world": config.world,
        "begin": run.made(begin),
        "attempts": sorted(t.trajectory_id for t in trajectories),
    }

    def work(folder: Path) -> Mapping[str, object]:
        torch.set_num_threads(config.threads)
        result = train_world(
            load_model(begin),
            load_language(begin),
            trajectories,
            folder,
            config=config.world.train,
            how=config.world.fit,
            progress=fit_progress(run.progress, "world"),
        )
        return fit_facts(result.fit) | {"counts": dict(result.counts)}

    run.stage("world", inputs, work)
    return run.path("world")


def load_imagination(run: Run, folder: Path, judge: JudgeConfig) -> Imagination:
    """Read a run's trained world model and judge."""
    torch.set_num_threads(run.config.threads)
    return open_imagination(folder, run.config.name, run.config.world.ask, judge)


def open_imagination(
    folder: Path, name: str, ask: WorldModelConfig, judge: JudgeConfig
) -> Imagination:
    """Read a trained world model and judge.

    Args:
        folder: with weights and language.
        name: for the version that is written on dreams.
        ask: how the world model is asked.
        judge: the judge's bars.

    Raises:
        StorageError: it cannot be read.
    """
    language = load_language(folder)
    sampler = TorchSampler(load_model(folder), language.tokenizer, f"world-{name}")
    return Imagination(
        world=PatchWorldModel(sampler, language, ask),
        judge=LmJudge(sampler, language, judge),
    )


def calibrated(run: Run, folder: Path) -> Imagination:
    """World model and judge, with the bar that was measured."""
    done = run.path("fidelity") / CALIBRATION
    how = load_calibration(done).judge_config() if done.exists() else JudgeConfig()
    return load_imagination(run, folder, how)


def dreamable(run: Run) -> frozenset[str]:
    """Tasks whose held-out steps the world model gets right often enough to be dreamt of.

    Raises:
        UserError: there is none.
    """
    least = run.config.world.least_right
    report = read_record(FidelityReport, run.path("fidelity") / FIDELITY)
    right = {row.task: row.right.fraction or 0.0 for row in report.by_task}
    kept = frozenset(t for t in run.config.tasks if right.get(t, 0.0) >= least)
    if not kept:
        raise UserError(
            f"the world model imagines less than {least:.0%} of the held-out steps rightly in every task: "
            "train it for longer, or lower world.least_right"
        )
    return kept


def measure_imagination(
    run: Run, folder: Path, training: Sequence[Trajectory], held_out: Sequence[Trajectory]
) -> None:
    """Set the judge's bars on held-out pages, measure them across two halves, and the world model on all."""
    inputs = {
        "world": run.made(folder),
        "held_out": [t.trajectory_id for t in held_out],
        "bar": run.config.world.calibration,
    }
    require_disjoint(
        ((t.task, t.seed) for t in training), ((t.task, t.seed) for t in held_out), "held_out"
    )

    def work(out: Path) -> Mapping[str, object]:
        run.progress("fidelity", 0, 2, "the judge")
        asked = load_imagination(run, folder, JudgeConfig())
        open_ones = asked_ids(held_out, answers_count=False)
        judged = judge_blind(asked.judge, held_out)
        scored = [j for j in judged if j.trajectory_id in open_ones and j.verdict.score is not None]
        calibration = _bars(run, scored)
        (out / CALIBRATION).mkdir(exist_ok=True)
        save_calibration(calibration, out / CALIBRATION)
        population = "the first agent's real attempts on unseen pages"
        own = {t.trajectory_id for t in held_out if t.behaviour is Behaviour.AGENT}
        halves = split_by_seed(held_out, fraction=FOLD, split_seed=run.config.seed)
        half = {t.trajectory_id for t in halves.held_out}
        mine = [j for j in judged if j.trajectory_id in own]
        across = _across(run, mine, scored, half)
        report = judge_table(across, open_ones, population=population)
        write_record(out / JUDGE, report)
        write_record(out / JUDGE_PLAIN, judge_table(mine, open_ones, population=population))
        run.progress("fidelity", 1, 2, "the world model")
        compared = compare(
            asked.world,
            held_out,
            learn_tasks(training, held_out, Lexicon.load(folder)),
            show_goal=run.config.world.ask.show_goal,
        )
        table = fidelity(compared, world_model=asked.world.version)
        write_record(out / FIDELITY, table)
        write_record(out / "dreamed_pages.json", DreamedPages(pages=choose_pages(compared)))
        run.progress("fidelity", 2, 2)
        total, verdicts = table.total, report.total
        return {
            "local_determined": total.local_determined.fraction,
            "local": total.local.fraction,
            "judge_false_positives": verdicts.false_positives.fraction,
            "judge_recall": verdicts.recall.fraction,
            "judge_unknown": verdicts.unknown.fraction,
            "real_failures": verdicts.false_positives.n,
            "bars": asdict(calibration),
        }

    run.stage("fidelity", inputs, work)


def _across(
    run: Run, judged: Sequence[Judged], scored: Sequence[Judged], half: Set[str]
) -> list[Judged]:
    """Verdicts decided anew, each by bars that were set without its half of the pages; `half` is one's ids."""
    decided = {}
    for mine in (True, False):
        others = [j for j in scored if (j.trajectory_id in half) is not mine]
        bars = _bars(run, others).judge_config()
        for j in scored:
            if (j.trajectory_id in half) is mine and j.verdict.score is not None:
                verdict = decide(j.verdict.score, bars.bar_of(j.task))
                decided[j.trajectory_id] = replace(j, verdict=verdict)
    return [decided.get(j.trajectory_id, j) for j in judged]


def _bars(run: Run, judged: Sequence[Judged]) -> Calibration:
    """The judge's bars from attempts that only the model can decide; the defaults when all end alike."""
    scored = [
        Scored(task=j.task, score=j.verdict.score, succeeded=j.succeeded)
        for j in judged
        if j.verdict.score is not None
    ]
    successes = sum(s.succeeded for s in scored)
    if not successes or successes == len(scored):
        return Calibration(bar=Bar(), failures=len(scored) - successes, successes=successes)
    return calibrate_tasks(scored, run.config.world.calibration)
