"""The stages around the world model: train it with its judge, set the judge's bar, measure both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from dynaweb.bench.determined import learn_task_strings
from dynaweb.bench.fidelity import compare, fidelity
from dynaweb.bench.judge_table import asked_ids, judge_table
from dynaweb.dataset.split import require_disjoint, split_by_seed
from dynaweb.evaluate.store import write_record
from dynaweb.judge.calibrate import (
    Calibration,
    calibrate_tasks,
    load_calibration,
    save_calibration,
)
from dynaweb.judge.config import JudgeConfig
from dynaweb.judge.measure import judge_blind
from dynaweb.judge.model import LmJudge
from dynaweb.lm.model import load_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import Tokenizer
from dynaweb.prompts.pointers import Lexicon
from dynaweb.recipes.policy import fit_facts, fit_progress
from dynaweb.recipes.stage import Run
from dynaweb.records.trajectory import Behaviour, Trajectory
from dynaweb.report.choose import choose_pages
from dynaweb.report.data import DreamedPages
from dynaweb.world.model import PatchWorldModel
from dynaweb.world.train import train_world

CALIBRATION = "calibration"
CALIBRATION_FRACTION = 0.5
"""Share of the held-out pages that set the judge's bar; the others measure it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imagination:
    """A world model and its judge, ready to be asked; one set of weights."""

    world: PatchWorldModel
    judge: LmJudge


def train_imagination(run: Run, trajectories: Sequence[Trajectory], policy: Path) -> Path:
    """One model for both, from the first agent's weights: it has learnt to read pages and to copy."""
    config = run.config
    inputs = {
        "world": config.world,
        "policy": run.made(policy),
        "attempts": sorted(t.trajectory_id for t in trajectories),
    }

    def work(folder: Path) -> Mapping[str, object]:
        torch.set_num_threads(config.threads)
        result = train_world(
            load_model(policy),
            Tokenizer.load(policy),
            trajectories,
            folder,
            config=config.world.train,
            how=config.world.fit,
            lexicon=Lexicon.load(policy),
            progress=fit_progress(run.progress, "world"),
        )
        return fit_facts(result.fit) | {"counts": dict(result.counts)}

    run.stage("world", inputs, work)
    return run.path("world")


def load_imagination(run: Run, folder: Path, judge: JudgeConfig) -> Imagination:
    """Read a trained world model and judge."""
    torch.set_num_threads(run.config.threads)
    tokenizer, lexicon = Tokenizer.load(folder), Lexicon.load(folder)
    sampler = TorchSampler(load_model(folder), tokenizer, f"world-{run.config.name}")
    return Imagination(
        world=PatchWorldModel(sampler, tokenizer, run.config.world.ask, lexicon),
        judge=LmJudge(sampler, tokenizer, judge, lexicon),
    )


def calibrated(run: Run, folder: Path) -> Imagination:
    """World model and judge, with the bar that was measured."""
    done = run.path("fidelity") / CALIBRATION
    how = _bars(load_calibration(done)) if done.exists() else JudgeConfig()
    return load_imagination(run, folder, how)


def measure_imagination(
    run: Run, folder: Path, training: Sequence[Trajectory], held_out: Sequence[Trajectory]
) -> None:
    """Set the judge's bar on some held-out pages; measure it on the rest, and the world model on all."""
    inputs = {
        "world": run.made(folder),
        "held_out": [t.trajectory_id for t in held_out],
        "bar": run.config.world.judge_false_positive_rate,
    }
    require_disjoint(
        ((t.task, t.seed) for t in training), ((t.task, t.seed) for t in held_out), "held_out"
    )

    def work(out: Path) -> Mapping[str, object]:
        run.progress("fidelity", 0, 2, "the judge")
        split = split_by_seed(held_out, fraction=CALIBRATION_FRACTION, split_seed=run.config.seed)
        asked = load_imagination(run, folder, JudgeConfig())
        how = _set_bar(run, asked.judge, split.held_out, out)
        judge = asked.judge.at(how)
        own = [t for t in split.train if t.behaviour is Behaviour.AGENT]
        report = judge_table(
            judge_blind(judge, own),
            asked_ids(own, answers_count=False),
            population="the first agent's real attempts on unseen pages",
        )
        write_record(out / "judge.json", report)
        run.progress("fidelity", 1, 2, "the world model")
        compared = compare(asked.world, held_out, learn_task_strings(training))
        table = fidelity(compared, world_model=asked.world.version)
        write_record(out / "fidelity.json", table)
        write_record(out / "dreamed_pages.json", DreamedPages(pages=choose_pages(compared)))
        run.progress("fidelity", 2, 2)
        total, verdicts = table.total, report.total
        return {
            "local_determined": total.local_determined.fraction,
            "local": total.local.fraction,
            "judge_false_positives": verdicts.false_positives.fraction,
            "judge_recall": verdicts.recall.fraction,
            "real_failures": verdicts.false_positives.n,
            "threshold": how.threshold,
            "thresholds": dict(how.by_task),
        }

    run.stage("fidelity", inputs, work)


def _set_bar(run: Run, judge: LmJudge, pages: Sequence[Trajectory], out: Path) -> JudgeConfig:
    """The judge's bar, on attempts that only the model can decide; the default when they all end alike."""
    open_ones = asked_ids(pages, answers_count=False)
    judged = judge_blind(judge, [t for t in pages if t.trajectory_id in open_ones])
    scored = [(j.verdict.score, j.succeeded, j.task) for j in judged if j.verdict.score is not None]
    if len({succeeded for _, succeeded, _ in scored}) < 2:
        return JudgeConfig()
    calibration = calibrate_tasks(
        [score for score, _, _ in scored],
        [succeeded for _, succeeded, _ in scored],
        [task for _, _, task in scored],
        wanted_false_positive_rate=run.config.world.judge_false_positive_rate,
    )
    (out / CALIBRATION).mkdir(exist_ok=True)
    save_calibration(calibration, out / CALIBRATION)
    return _bars(calibration)


def _bars(calibration: Calibration) -> JudgeConfig:
    return JudgeConfig(threshold=calibration.threshold, by_task=calibration.by_task)
