"""Scores into numbers with intervals: by whole, behaviour, site, task and kind of action, each beside copy.

Steps of one task resemble each other, so intervals draw whole tasks (attempts where all are of one task), and the
gain over copy is paired step by step.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from dynaweb.bench.worlds.cases import Case
from dynaweb.bench.worlds.scores import CRITERIA, Scored, StepScores
from dynaweb.evaluate.config import StatisticsConfig
from dynaweb.evaluate.statistics import clustered_mean
from dynaweb.report.worlds.data import Cell

METRICS = tuple(f.name for f in fields(StepScores))

LOWER_IS_BETTER = frozenset(
    {
        "full_wrong",
        "ended_early",
        "invalid",
        "repaired",
        "duplicate_ids",
        "id_drift",
        "blocked_invented",
        "seconds",
    }
)

GROUPS: Mapping[str, Callable[[Case], str]] = {
    "all": lambda case: "all",
    "behaviour": lambda case: case.behaviour,
    "site": lambda case: case.site,
    "task": lambda case: case.known.task,
    "action": lambda case: case.kind,
}
"""How steps are grouped -> which group a step is in."""


@dataclass(frozen=True, slots=True)
class _Value:
    """One step's number, and the copy model's where it has one."""

    case: Case
    mine: float
    copy: float | None


def cells(
    scored: Sequence[Scored],
    copied: Mapping[str, StepScores],
    config: StatisticsConfig,
) -> tuple[Cell, ...]:
    """Every number of one model.

    Args:
        scored: its steps.
        copied: case id -> scores of the copy model; empty for the copy model itself.
        config: of the intervals.
    """
    found: list[Cell] = []
    for metric in METRICS:
        values = _values(scored, copied, metric)
        for group_by, group_of in GROUPS.items():
            groups: dict[str, list[_Value]] = defaultdict(list)
            for value in values:
                groups[group_of(value.case)].append(value)
            found += [
                _cell(metric, group_by, group, groups[group], config) for group in sorted(groups)
            ]
    return tuple(found)


def _values(
    scored: Sequence[Scored], copied: Mapping[str, StepScores], metric: str
) -> list[_Value]:
    values: list[_Value] = []
    for one in scored:
        mine = getattr(one.scores, metric)
        beside = copied.get(one.case.case_id)
        if mine is not None:
            copy = None if beside is None else getattr(beside, metric)
            values.append(_Value(one.case, mine, copy))
    return values


def _cell(
    metric: str, group_by: str, group: str, values: Sequence[_Value], config: StatisticsConfig
) -> Cell:
    mean, low, high, clusters = _mean([(v.case, v.mine) for v in values], config)
    cell = Cell(
        metric=metric,
        group_by=group_by,
        group=group,
        n=len(values),
        clusters=clusters,
        mean=mean,
        low=low,
        high=high,
    )
    pairs = [(v, v.copy) for v in values if v.copy is not None]
    if not pairs or metric == "seconds":
        return cell
    copy = sum(c for _, c in pairs) / len(pairs)
    gain, gain_low, gain_high, _ = _mean([(v.case, v.mine - c) for v, c in pairs], config)
    if all(v.mine == c for v, c in pairs):
        gain_low = gain_high = None
    left = best(metric) - copy
    can_gain = metric not in LOWER_IS_BETTER and left > 0
    return replace(
        cell,
        copy=copy,
        gain=gain,
        gain_low=gain_low,
        gain_high=gain_high,
        normalised=gain / left if can_gain else None,
    )


def best(metric: str) -> float:
    """The most that a score can be."""
    return float(CRITERIA) if metric == "full_judged" else 1.0


def _mean(
    values: Sequence[tuple[Case, float]], config: StatisticsConfig
) -> tuple[float, float | None, float | None, int]:
    """Mean, interval and number of clusters."""
    by_task = len({case.known.task for case, _ in values}) > 1
    clusters: dict[str, list[float]] = defaultdict(list)
    for case, value in values:
        clusters[case.known.task if by_task else case.known.trajectory_id].append(value)
    return *clustered_mean([(sum(c), len(c)) for c in clusters.values()], config), len(clusters)
