"""What a verdict rests on: the goal, what was done, and the page before the final action.

The page after the final action is not shown: an ended task clears its page, and a dream does not
imagine what is left (contracts: terminal). Words of the page stand inside the page's section and
nowhere else; a claim of the agent stands as one of its actions.
"""

from dynaweb.axtree.label import label_action
from dynaweb.prompts.judge import render_judge
from dynaweb.records.action import ReportInfeasible, SendMsgToUser
from dynaweb.records.trajectory import Outcome, Reason, Step, Trajectory, Verdict

_BROKEN_OFF = frozenset(
    {
        Reason.RECORDING_STOPPED,
        Reason.BROWSER_FAULT,
        Reason.WORLD_MODEL_FAULT,
        Reason.JUDGE_FAULT,
        Reason.SAMPLER_FAULT,
    }
)


def done_labels(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Actions that happened, oldest first, each with the name of its element."""
    return tuple(
        label_action(s.action, s.observation)
        for s in steps
        if s.action is not None and s.fault is None
    )


def judge_prompt(goal: str, steps: tuple[Step, ...]) -> str:
    """The question, as the judge is asked it in training and in dreams.

    Args:
        goal: what was wanted.
        steps: the whole attempt from the task's first page; at least one.
    """
    acted = tuple(s for s in steps if not isinstance(s.action, SendMsgToUser | ReportInfeasible))
    tree = steps[-1].observation.tree
    return render_judge(goal, done_labels(steps), done_labels(acted), tree)


def rule_verdict(trajectory: Trajectory, *, answers_count: bool) -> Verdict | None:
    """The verdict where no model is needed; None where one is.

    Args:
        trajectory: the attempt.
        answers_count: whether a message to the user can fulfil a task.
    """
    if trajectory.reason in _BROKEN_OFF:
        return Verdict(outcome=Outcome.UNKNOWN, evidence=f"broken off: {trajectory.reason.value}")
    if not trajectory.steps:
        return Verdict(outcome=Outcome.UNKNOWN, evidence="no step was made")
    if trajectory.reason is Reason.OUT_OF_STEPS:
        return Verdict(outcome=Outcome.FAILURE, evidence="the task never ended", score=0.0)
    last = trajectory.steps[-1]
    if last.action is None or last.fault is not None:
        return Verdict(outcome=Outcome.UNKNOWN, evidence="ended by an action that did not happen")
    if trajectory.reason is Reason.ANSWERED and not answers_count:
        return Verdict(
            outcome=Outcome.FAILURE, evidence="a claim to the user changes nothing here", score=0.0
        )
    return None
