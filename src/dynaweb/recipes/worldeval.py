"""World models measured side by side: the same transitions, the same probes, one report.

Every answer, judgement and replay is kept as it comes; the same call goes on where the last one stopped, and another
model in the same folder asks only what was not asked before.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from dynaweb.axtree.measure import DeltaCost, delta_costs
from dynaweb.bench.fidelity import Regime
from dynaweb.bench.results import ReplayReport, Share
from dynaweb.bench.worlds.answers import Asked, Measured, answer_key, ask_all
from dynaweb.bench.worlds.cases import Case, question, sample_cases
from dynaweb.bench.worlds.judging import JudgedPages, judge_pages
from dynaweb.bench.worlds.overlap import measure_overlap, require_unseen
from dynaweb.bench.worlds.probes import (
    GoalSwaps,
    ProbeRow,
    ask_blocked,
    ask_swapped,
    count_blocked,
    count_swap,
    other_goal,
)
from dynaweb.bench.worlds.scores import Scored, StepScores, score
from dynaweb.browser.config import BrowserConfig
from dynaweb.contracts import ChatModel
from dynaweb.dataset.changes import rough_tokens
from dynaweb.errors import UserError
from dynaweb.evaluate.config import StatisticsConfig
from dynaweb.recipes.worldreplay import ReplayWish, replay_world
from dynaweb.records.trajectory import Trajectory
from dynaweb.report.choose import dreamed_page, spread
from dynaweb.report.data import DreamedPage
from dynaweb.report.worlds.data import ModelReport, WorldsReport
from dynaweb.report.worlds.page import render_worlds
from dynaweb.report.worlds.table import cells
from dynaweb.runs.atomic import write_text
from dynaweb.runs.folder import fingerprint
from dynaweb.runs.jsonfile import read_record, write_record
from dynaweb.runs.progress import Progress

REPORT = "report.json"
PAGE = "index.html"
EXAMPLES = 4
MAX_EXAMPLE_LINES = 600
"""Longer pages are not shown as pictures: comparing their lines is quadratic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalConfig:
    """What decides the numbers, besides models and files."""

    limit: int | None = None
    """Most transitions, drawn by site, behaviour and task in turn; None for all."""
    seed: int = 0
    """Of the draw, the probes and the intervals."""
    probed: int = 100
    """Cases on whose pages actions that cannot work are tried, and whose goals are swapped."""
    resamples: int = 2_000
    """Bootstrap draws of an interval."""

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UserError(f"limit {self.limit!r} is out of range: use 1 or more")
        if self.probed < 0:
            raise UserError(f"probed {self.probed!r} is out of range: use 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Everything the models have in common."""

    cases: Sequence[Case]
    config: EvalConfig
    out: Path
    judge: ChatModel | None
    replays: ReplayWish | None
    browser: BrowserConfig
    progress: Progress

    @property
    def probed(self) -> list[Case]:
        """The cases that are probed."""
        return sample_cases(self.cases, self.config.probed, seed=self.config.seed)


def evaluate_worlds(
    found: Sequence[Case],
    models: Sequence[Measured],
    bench: Bench,
    training: Sequence[Trajectory],
    dropped: Mapping[str, int],
) -> WorldsReport:
    """Measure every model and write the report.

    Args:
        found: every case in the files; `bench.cases` were drawn from them.
        models: the copy model first: every number stands beside its.
        bench: what they have in common.
        training: what the models know; empty when nobody said.
        dropped: reason -> what was left out before.

    Raises:
        UserError: a measured attempt was trained on. StorageError: the folder is damaged or full.
        SamplerError: a model or the judge cannot be asked.
    """
    require_unseen(training, bench.cases)
    reports: list[ModelReport] = []
    copied: Mapping[str, StepScores] = {}
    costs: Mapping[str, DeltaCost] = {}
    regimes: Counter[Regime] = Counter()
    for model in models:
        steps = _scored(model, bench)
        reports.append(_report(model, bench, steps, copied))
        if not copied:
            copied = {s.case.case_id: s.scores for s in steps.scored}
            costs = _costs(steps.scored)
            regimes = Counter(s.compared.regime for s in steps.scored)
    report = WorldsReport(
        models=tuple(reports),
        transitions=len(bench.cases),
        found=len(found),
        limit=bench.config.limit,
        seed=bench.config.seed,
        regimes={r.value: regimes[r] for r in Regime if regimes[r]},
        tasks=len({c.known.task for c in bench.cases}),
        sites=dict(Counter(c.site for c in bench.cases).most_common()),
        behaviours=dict(Counter(c.behaviour for c in bench.cases).most_common()),
        costs=costs,
        overlap=measure_overlap(training, bench.cases) if training else None,
        dropped=dropped,
        confidence=_statistics(bench).confidence,
    )
    write_record(bench.out / REPORT, report)
    write_text(bench.out / PAGE, render_worlds(report))
    return report


@dataclass(frozen=True, slots=True)
class _Steps:
    """One model's predictions."""

    scored: list[Scored]
    judged: JudgedPages | None
    unanswered: int


def _scored(model: Measured, bench: Bench) -> _Steps:
    asked = [
        Asked(
            key=answer_key(model, case.checksum(), "step"),
            question=question(case, show_goal=model.shows_goal),
        )
        for case in bench.cases
    ]
    answers = ask_all(model, asked, _answers_file(model, bench), bench.progress)
    pairs = [(case, answers[one.key]) for case, one in zip(bench.cases, asked, strict=True)]
    given = [(case, answer) for case, answer in pairs if not answer.prediction.unanswered]
    unanswered = len(pairs) - len(given)
    scored: list[Scored] = []
    for case, answer in given:
        scored.append(score(case, answer))
        bench.progress(f"score {model.name}", len(scored), len(given))
    if bench.judge is None:
        return _Steps(scored, None, unanswered)
    file = bench.out / "judgements.jsonl"
    return _Steps(*judge_pages(scored, bench.judge, file, bench.progress), unanswered)


def _report(
    model: Measured,
    bench: Bench,
    steps: _Steps,
    copied: Mapping[str, StepScores],
) -> ModelReport:
    worst, typical = _examples(steps.scored)
    return ModelReport(
        name=model.name,
        version=model.world.version,
        checksum=model.checksum,
        shows_goal=model.shows_goal,
        cells=cells(steps.scored, copied, _statistics(bench)),
        unanswered=steps.unanswered,
        blocked=_blocked(model, bench),
        swaps=_swaps(model, bench),
        judged=steps.judged,
        replay=_replayed(model, bench),
        worst=worst,
        typical=typical,
    )


def _statistics(bench: Bench) -> StatisticsConfig:
    return StatisticsConfig(resamples=bench.config.resamples, seed=bench.config.seed)


def _answers_file(model: Measured, bench: Bench) -> Path:
    folder = bench.out / "answers"
    folder.mkdir(exist_ok=True)
    return folder / f"{_file_name(model)}.jsonl"


def _file_name(model: Measured) -> str:
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', model.name)[:40]}-{fingerprint(model.checksum)}"


def _blocked(model: Measured, bench: Bench) -> tuple[ProbeRow, ...]:
    asked = [pair for case in bench.probed for pair in ask_blocked(model, case)]
    if not asked:
        return ()
    file = _answers_file(model, bench)
    return count_blocked(asked, ask_all(model, [a for _, a in asked], file, bench.progress))


def _swaps(model: Measured, bench: Bench) -> GoalSwaps:
    if not model.shows_goal:
        return GoalSwaps(shown=False)
    pairs = [
        (case, goal)
        for case in bench.probed
        if (goal := other_goal(case, bench.cases, bench.config.seed)) is not None
    ]
    own = [
        Asked(
            key=answer_key(model, case.checksum(), "step"),
            question=question(case, show_goal=True),
        )
        for case, _ in pairs
    ]
    other = [ask_swapped(model, case, goal) for case, goal in pairs]
    said = ask_all(model, [*own, *other], _answers_file(model, bench), bench.progress)
    counted = [
        count_swap(case, said[a.key], goal, said[b.key])
        for (case, goal), a, b in zip(pairs, own, other, strict=True)
        if not (said[a.key].prediction.unanswered or said[b.key].prediction.unanswered)
    ]
    return GoalSwaps(
        shown=True,
        differs=Share(hits=sum(differs for differs, _ in counted), n=len(counted)),
        toward=Share(hits=sum(toward for _, toward in counted), n=len(counted)),
    )


def _replayed(model: Measured, bench: Bench) -> ReplayReport | None:
    """Kept whole: a replay that was cut short is made again."""
    if bench.replays is None:
        return None
    made = fingerprint({"model": model.checksum, "wish": bench.replays})
    path = bench.out / "replays" / f"{_file_name(model)}-{made}.json"
    if path.is_file():
        return read_record(ReplayReport, path)
    report = replay_world(model, bench.replays, bench.browser, bench.progress)
    write_record(path, report)
    return report


def _costs(scored: Sequence[Scored]) -> dict[str, DeltaCost]:
    """Of the true changes after the rules, in rough tokens."""
    changes = ((s.compared.truth, s.case.known.next_page.tree) for s in scored)
    return {kind.value: cost for kind, cost in delta_costs(changes, rough_tokens).items()}


def _examples(
    scored: Sequence[Scored],
) -> tuple[tuple[DreamedPage, ...], tuple[DreamedPage, ...]]:
    """Changed steps with the lowest score, and around the median; spread over tasks, short enough to be shown."""
    ranked = [(s, value) for s in scored if (value := _value(s)) is not None and _is_short(s)]
    if not ranked:
        return (), ()
    middle = median(value for _, value in ranked)
    worst = sorted(ranked, key=lambda r: (r[1], r[0].case.case_id))
    typical = sorted(ranked, key=lambda r: (abs(r[1] - middle), r[0].case.case_id))
    low, mid = (
        spread([s for s, _ in chosen], EXAMPLES, key=lambda s: s.case.known.task)
        for chosen in (worst, typical)
    )
    return _pictures(low), _pictures(mid)


def _pictures(chosen: Sequence[Scored]) -> tuple[DreamedPage, ...]:
    return tuple(dreamed_page(s.compared) for s in chosen)


def _value(one: Scored) -> float | None:
    s = one.scores
    return s.full_structure if s.local_f1 is None else s.local_f1


def _is_short(one: Scored) -> bool:
    known, said = one.case.known, one.compared.prediction.observation
    pages = (known.history[-1], known.next_page, said)
    return all(p.tree.count("\n") < MAX_EXAMPLE_LINES for p in pages)
