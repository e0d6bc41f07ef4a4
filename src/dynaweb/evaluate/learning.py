"""Learning curves in the real browser: several arms, several seeds, several checkpoints, analysed together.

A rate has an interval from a bootstrap that draws whole tasks, since pages of one task and seeds of one arm are
alike. Arms are compared at their last checkpoint, paired by task, page and seed; an arm that was trained with fewer
seeds is compared on those that both have, and one that was never trained on stands beside every seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from dynaweb.errors import UserError
from dynaweb.evaluate.config import StatisticsConfig
from dynaweb.evaluate.plan import Comparison
from dynaweb.evaluate.statistics import (
    EpisodeOutcome,
    PairedDifference,
    clustered_mean,
    paired_difference,
)
from dynaweb.records.trajectory import Outcome

APART = 10**9
"""Distance between the pages of two seeds when they are counted together; page seeds are smaller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPoint:
    """One run's agent at one checkpoint, and its attempts."""

    arm: str
    seed: int
    checkpoint: int
    """From 1; 0 is the first agent, which every arm begins with."""
    live_steps: int
    """Real actions spent until then, those that made what the arm learns from included."""
    seconds: float
    """Of training since the first agent."""
    episodes: tuple[EpisodeOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has spent up to a checkpoint, and what came of it in training; the first agent is not counted."""

    seconds: float
    """Of training, attempts at real pages included; wall clock of whatever machine it was."""
    units: int
    """Optimiser steps of a supervised arm, iterations of the others."""
    live_steps: int = 0
    """Real actions that its groups took."""
    live_files: tuple[str, ...] = ()
    """Files with those attempts."""
    groups: int = 0
    """Groups made."""
    groups_taught: int = 0
    """Groups whose members ended differently: the others give no gradient."""
    attempts: int = 0
    """Fresh attempts, dreamt or real."""
    unknown: int = 0
    """Members of groups that nobody could judge, or that world model or browser broke off: out of their group."""
    reward_first: float | None = None
    """Mean reward of the fresh attempts in the first iterations. Of dreams, by the judge: never a result."""
    reward_last: float | None = None
    """The same in the last."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Examples of a supervised arm, places to begin of the others, and why more were left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRate:
    """One run of a point."""

    seed: int
    live_steps: int
    seconds: float
    successes: int
    n: int
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSuccesses:
    """One task of a point, all seeds together."""

    task: str
    successes: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """An arm at a checkpoint, all seeds together."""

    checkpoint: int
    live_steps: float
    """Mean over the seeds."""
    successes: int
    n: int
    """Episodes that count: successes and failures."""
    unknown: int
    """Episodes left out, because browser or model broke."""
    low: float | None
    """Interval of the rate, from a bootstrap over tasks; None where all tasks agree on something between 0 and 1."""
    high: float | None
    seeds: tuple[SeedRate, ...]
    tasks: tuple[TaskSuccesses, ...]
    """Sorted by name."""

    @property
    def rate(self) -> float | None:
        """In [0, 1]; None when nothing counts."""
        return self.successes / self.n if self.n else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCurve:
    """An arm from its first checkpoint that was measured to its last."""

    arm: str
    words: str
    """What it learnt from."""
    points: tuple[CurvePoint, ...]
    """By checkpoint; empty when nothing of it is measured yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedArms:
    """The answer to one question of the plan."""

    primary: bool
    seeds: tuple[int, ...]
    """Seeds that both arms have."""
    paired: PairedDifference


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningResults:
    """Everything that a measurement found, in numbers."""

    curves: tuple[ArmCurve, ...]
    comparisons: tuple[ComparedArms, ...]
    missing: tuple[str, ...] = ()
    """What the plan wants and is not measured yet."""
    statistics: StatisticsConfig = field(default_factory=StatisticsConfig)


def learning_results(
    arms: Mapping[str, str],
    comparisons: Sequence[Comparison],
    points: Sequence[MeasuredPoint],
    statistics: StatisticsConfig,
    missing: Sequence[str] = (),
) -> LearningResults:
    """Apply the plan's analysis to what is measured.

    Args:
        arms: name -> what it learnt from, in the order of the tables.
        comparisons: questions; one whose arms are not both measured to the end is left out.
        points: what there is; the last checkpoint is the largest number among them.
        statistics: intervals.
        missing: what is not measured yet.

    Raises:
        UserError: an arm that nobody named, or two arms of one seed are measured on different pages.
    """
    if odd := [p.arm for p in points if p.arm not in arms]:
        raise UserError(f"a point is of arm {odd[0]!r}: the plan has {', '.join(arms)}")
    last = max((p.checkpoint for p in points), default=0)
    ends = {arm: _ends(points, arm, last) for arm in arms}
    compared = [_compared(c, ends, statistics) for c in comparisons]
    return LearningResults(
        curves=tuple(
            ArmCurve(arm=arm, words=words, points=_curve(points, arm, statistics))
            for arm, words in arms.items()
        ),
        comparisons=tuple(c for c in compared if c is not None),
        missing=tuple(missing),
        statistics=statistics,
    )


def _curve(
    points: Sequence[MeasuredPoint], arm: str, statistics: StatisticsConfig
) -> tuple[CurvePoint, ...]:
    mine = [p for p in points if p.arm == arm]
    numbers = sorted({p.checkpoint for p in mine})
    return tuple(_point([p for p in mine if p.checkpoint == n], statistics) for n in numbers)


def _point(runs: Sequence[MeasuredPoint], statistics: StatisticsConfig) -> CurvePoint:
    """Runs of one arm at one checkpoint, together."""
    known: dict[str, list[int]] = {}
    for run in runs:
        for e in run.episodes:
            if e.outcome is not Outcome.UNKNOWN:
                known.setdefault(e.task, []).append(e.outcome is Outcome.SUCCESS)
    clusters = [(float(sum(hits)), len(hits)) for hits in known.values()]
    low, high = clustered_mean(clusters, statistics)[1:] if clusters else (None, None)
    return CurvePoint(
        checkpoint=runs[0].checkpoint,
        live_steps=fmean(r.live_steps for r in runs),
        successes=sum(sum(hits) for hits in known.values()),
        n=sum(len(hits) for hits in known.values()),
        unknown=sum(e.outcome is Outcome.UNKNOWN for r in runs for e in r.episodes),
        low=low,
        high=high,
        seeds=tuple(_seed_rate(r) for r in sorted(runs, key=lambda r: r.seed)),
        tasks=tuple(
            TaskSuccesses(task=t, successes=sum(hits), n=len(hits))
            for t, hits in sorted(known.items())
        ),
    )


def _seed_rate(run: MeasuredPoint) -> SeedRate:
    ends = [e.outcome for e in run.episodes]
    return SeedRate(
        seed=run.seed,
        live_steps=run.live_steps,
        seconds=run.seconds,
        successes=ends.count(Outcome.SUCCESS),
        n=len(ends) - ends.count(Outcome.UNKNOWN),
        unknown=ends.count(Outcome.UNKNOWN),
    )


_Ends = dict[int | None, tuple[EpisodeOutcome, ...]]
"""Seed -> episodes at the last checkpoint; None is the agent that no seed has touched."""


def _ends(points: Sequence[MeasuredPoint], arm: str, last: int) -> _Ends:
    return {
        (p.seed if p.checkpoint else None): p.episodes
        for p in points
        if p.arm == arm and p.checkpoint in (0, last)
    }


def _compared(
    comparison: Comparison, ends: Mapping[str, _Ends], statistics: StatisticsConfig
) -> ComparedArms | None:
    ours, theirs = ends[comparison.treatment], ends[comparison.control]
    seeds = sorted(
        {s for s in (*ours, *theirs) if s is not None and _at(ours, s) and _at(theirs, s)}
    )
    if not seeds:
        return None
    return ComparedArms(
        primary=comparison.primary,
        seeds=tuple(seeds),
        paired=paired_difference(
            (comparison.treatment, _together(ours, seeds)),
            (comparison.control, _together(theirs, seeds)),
            statistics,
        ),
    )


def _at(ends: _Ends, seed: int) -> tuple[EpisodeOutcome, ...]:
    return ends.get(seed) or ends.get(None) or ()


def _together(ends: _Ends, seeds: Sequence[int]) -> list[EpisodeOutcome]:
    """Episodes of several seeds, their pages told apart."""
    return [replace(e, seed=e.seed + i * APART) for i, s in enumerate(seeds) for e in _at(ends, s)]
