"""The judge against the truth, on attempts whose real ending is known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dynaweb.contracts import Judge
from dynaweb.records.trajectory import Outcome, Trajectory, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One attempt, its truth and its verdict."""

    task: str
    seed: int
    trajectory_id: str
    succeeded: bool
    verdict: Verdict


def judge_blind(judge: Judge, trajectories: Sequence[Trajectory]) -> list[Judged]:
    """Ask for verdicts without showing the truth; attempts of unknown ending are left out."""
    known = [t for t in trajectories if t.outcome is not Outcome.UNKNOWN]
    hidden = [replace(t, outcome=Outcome.UNKNOWN, raw_reward=None, detail="") for t in known]
    return [
        Judged(
            task=t.task,
            seed=t.seed,
            trajectory_id=t.trajectory_id,
            succeeded=t.outcome is Outcome.SUCCESS,
            verdict=v,
        )
        for t, v in zip(known, judge.judge(hidden), strict=True)
    ]
