"""When an attempt waits for a judge, and what a verdict makes of it."""

from dataclasses import replace

from dynaweb.records.trajectory import Outcome, Reason, Trajectory, Verdict


def needs_verdict(trajectory: Trajectory) -> bool:
    """The attempt ended by itself and the world gave no reward."""
    ended = trajectory.reason in (Reason.TASK_ENDED, Reason.ANSWERED)
    return ended and trajectory.outcome is Outcome.UNKNOWN


def with_verdict(trajectory: Trajectory, verdict: Verdict) -> Trajectory:
    """The attempt with the judge's word on it; a judge that could not tell is the judge's fault.

    Raises:
        ValueError: the attempt does not wait for a verdict; a world's own reward is never overruled.
    """
    if not needs_verdict(trajectory):
        raise ValueError(
            f"trajectory {trajectory.trajectory_id!r} is not waiting for a verdict ({trajectory.reason})"
        )
    reason = Reason.JUDGE_FAULT if verdict.outcome is Outcome.UNKNOWN else trajectory.reason
    return replace(trajectory, outcome=verdict.outcome, reason=reason, detail=verdict.evidence)
