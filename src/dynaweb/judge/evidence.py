"""What a verdict rests on: the goal, what was done, and the page before the final action.

The page after the final action is not shown: an ended task clears its page, and a dream does not
imagine what is left (contracts: terminal). Words of the page stand inside the page's section and
nowhere else; a claim of the agent stands as one of its actions.
"""

from collections.abc import Sequence

from dynaweb.axtree.label import label_action
from dynaweb.axtree.tree import Node, Tree, find_element, read_tree, subtree_end
from dynaweb.prompts.judge import render_judge
from dynaweb.records.action import Fill, ReportInfeasible, SendMsgToUser, target_bids
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


_STATEFUL = frozenset(
    {
        "checkbox",
        "combobox",
        "listbox",
        "menuitemcheckbox",
        "menuitemradio",
        "option",
        "radio",
        "searchbox",
        "slider",
        "spinbutton",
        "switch",
        "textbox",
    }
)
_MARKS = ("checked", "selected", "pressed")
_DOT = "•"
"""What browsers show for a letter of a password."""


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
    acted = [s for s in steps if s.action is not None and s.fault is None]
    acted = [s for s in acted if not isinstance(s.action, SendMsgToUser | ReportInfeasible)]
    text = steps[-1].observation.tree
    tree = read_tree(text)
    meant = [words for s in acted for words in _brought_about(s, tree, final=s is steps[-1])]
    holds = [*_state(tree), *meant]
    return render_judge(goal, done_labels(steps), holds=holds, meant=meant, tree=text)


def _brought_about(step: Step, last: Tree, *, final: bool) -> list[str]:
    """What an action left behind: the state of its element on the last page, else its name.

    A box that was ticked and unticked again, or a text that was overwritten, left nothing. The final
    action is not on the last page yet.
    """
    assert step.action is not None
    if final:
        return [label_action(step.action, step.observation)]
    words: list[str] = []
    for bid in target_bids(step.action):
        at = find_element(last, bid)
        if at is not None and last[at].role in _STATEFUL:
            words += _state(last[at : subtree_end(last, at)])
            words += _hidden(step, last[at])
        else:
            words.append(label_action(step.action, step.observation))
    return words


def _hidden(step: Step, field: Node) -> list[str]:
    """What was typed into a field that shows dots in its place, as many as there are letters."""
    held = field.attr("value")
    if not isinstance(step.action, Fill) or not isinstance(held, str):
        return []
    return [step.action.value] if held == _DOT * len(step.action.value) else []


def _state(tree: Sequence[Node]) -> list[str]:
    """Names of what is ticked or chosen, and what fields hold."""
    on = [n.name for n in tree if n.name and any(n.attr(mark) == "true" for mark in _MARKS)]
    held = (n.attr("value") for n in tree)
    return [*on, *(value for value in held if isinstance(value, str))]


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
