"""The tables of an evaluation, as records: made from raw episodes and a plan, never edited.

On disk: `store.write_record(folder / RESULTS_FILE, results)` and `store.read_record(EvaluationResults, path)`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from dynaweb.errors import UserError
from dynaweb.evaluate.plan import EvaluationPlan, plan_hash
from dynaweb.evaluate.statistics import (
    PairedDifference,
    Rate,
    outcomes_of,
    paired_difference,
    success_rate,
)
from dynaweb.records.trajectory import Trajectory, World

RESULTS_FILE = "results.json"
"""Name of the tables in an evaluation folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRate:
    """One arm on one task."""

    task: str
    rate: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResult:
    """One arm in the real browser."""

    arm: str
    policy_version: str
    rate: Rate
    by_task: tuple[TaskRate, ...]
    """In the plan's order of tasks."""
    mean_steps: float | None
    """Actions an attempt took, successes and failures alike; None when nothing counts."""
    reasons: Mapping[str, int]
    """How attempts ended: reason -> episodes."""
    faults: Mapping[str, int]
    """What was wrong with actions: fault -> steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonResult:
    """The answer to one of the plan's questions."""

    primary: bool
    paired: PairedDifference


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationResults:
    """Everything that an evaluation found, in numbers."""

    plan_hash: str
    arms: tuple[ArmResult, ...]
    comparisons: tuple[ComparisonResult, ...]


def analyse(
    plan: EvaluationPlan, episodes: Mapping[str, Sequence[Trajectory]]
) -> EvaluationResults:
    """Apply the plan's analysis to the raw episodes of every arm.

    Raises:
        UserError: an arm is missing or has other pages than planned, or an episode is a dream.
    """
    for arm in plan.arms:
        _require_planned(plan, arm, episodes.get(arm, ()))
    outcomes = {arm: outcomes_of(episodes[arm]) for arm in plan.arms}
    return EvaluationResults(
        plan_hash=plan_hash(plan),
        arms=tuple(_arm(plan, arm, episodes[arm]) for arm in plan.arms),
        comparisons=tuple(
            ComparisonResult(
                primary=c.primary,
                paired=paired_difference(
                    (c.treatment, outcomes[c.treatment]),
                    (c.control, outcomes[c.control]),
                    plan.statistics,
                ),
            )
            for c in plan.comparisons
        ),
    )


def _require_planned(plan: EvaluationPlan, arm: str, episodes: Sequence[Trajectory]) -> None:
    if dreams := [t.trajectory_id for t in episodes if t.world is not World.LIVE]:
        raise UserError(
            f"arm {arm!r} holds a dream ({dreams[0]!r}): an evaluation counts real episodes only"
        )
    found = Counter((t.task, t.seed) for t in episodes)
    planned = {(task, seed) for task in plan.tasks for seed in plan.seeds}
    odd = [p for p in found if p not in planned]
    lacking = sorted(planned - set(found))
    if odd or lacking:
        which = (
            f"page {odd[0]!r} is not in the plan"
            if odd
            else f"{len(lacking)} page(s) are missing, such as {lacking[0]!r}"
        )
        raise UserError(
            f"arm {arm!r} does not follow the plan: {which}. Run the evaluation again to complete it"
        )


def _arm(plan: EvaluationPlan, arm: str, episodes: Sequence[Trajectory]) -> ArmResult:
    counted = [t for t in episodes if t.reward is not None]
    confidence = plan.statistics.confidence
    return ArmResult(
        arm=arm,
        policy_version=episodes[0].policy_version,
        rate=success_rate([t.outcome for t in episodes], confidence),
        by_task=tuple(
            TaskRate(
                task=task,
                rate=success_rate([t.outcome for t in episodes if t.task == task], confidence),
            )
            for task in plan.tasks
        ),
        mean_steps=fmean(len(t.steps) for t in counted) if counted else None,
        reasons=dict(sorted(Counter(t.reason.value for t in episodes).items())),
        faults=dict(
            sorted(
                Counter(
                    s.fault.value for t in episodes for s in t.steps if s.fault is not None
                ).items()
            )
        ),
    )
