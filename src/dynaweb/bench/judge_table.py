"""The judge against the truth: its false-positive rate on real failures, and its recall (papers F14)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from dynaweb.bench.results import JudgeReport, JudgeRow, Share
from dynaweb.judge.evidence import rule_verdict
from dynaweb.judge.measure import Judged
from dynaweb.records.trajectory import Outcome, Trajectory


def judge_table(judged: Sequence[Judged], asked: frozenset[str], *, population: str) -> JudgeReport:
    """Count verdicts.

    Args:
        judged: verdicts with their truth, see `judge.measure.judge_blind`.
        asked: trajectory ids that no rule decided, see `asked_ids`.
        population: whose attempts these are, for people.
    """
    rows: dict[str, JudgeRow] = defaultdict(lambda: JudgeRow(task=""))
    total, asked_total = JudgeRow(task="all"), JudgeRow(task="all")
    for j in judged:
        row = _count(j)
        rows[j.task] = replace(rows[j.task] + row, task=j.task)
        total += row
        if j.trajectory_id in asked:
            asked_total += row
    return JudgeReport(
        population=population,
        total=total,
        by_task=tuple(rows[task] for task in sorted(rows)),
        asked_total=asked_total,
    )


def asked_ids(trajectories: Sequence[Trajectory], *, answers_count: bool) -> frozenset[str]:
    """Attempts whose verdict needs the model."""
    return frozenset(
        t.trajectory_id
        for t in trajectories
        if rule_verdict(t, answers_count=answers_count) is None
    )


def _count(j: Judged) -> JudgeRow:
    success = Share(hits=int(j.verdict.outcome is Outcome.SUCCESS), n=1)
    failure = Share(hits=int(j.verdict.outcome is Outcome.FAILURE), n=1)
    return JudgeRow(
        task=j.task,
        recall=success if j.succeeded else Share(),
        false_negatives=failure if j.succeeded else Share(),
        false_positives=Share() if j.succeeded else success,
        unknown=Share(hits=int(j.verdict.outcome is Outcome.UNKNOWN), n=1),
    )
