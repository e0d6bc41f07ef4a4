"""What every importer does with a recorded page and reply: observation, action, fault, ending."""

import re
from dataclasses import dataclass, replace

from dynaweb.agent.reply import read_reply
from dynaweb.axtree.apply import apply
from dynaweb.axtree.tree import read_line, unquote
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import ActionError, DeltaError
from dynaweb.records.action import Action, Fill, ReportInfeasible, SendMsgToUser
from dynaweb.records.delta import Delta, DeltaKind, Updated
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Fault, Outcome, Reason, Step, Trajectory, World
from dynaweb.records.webarena import read_webarena

_TITLE = re.compile(r"^(?:\[\w+\] )?RootWebArea ('(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")")
_FLAG = ", focused"
_CALL_NAME = re.compile(r"\W*(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What the caller knows about a file and the file does not say."""

    license: str = ""
    """SPDX name of the licence the pages may be used under; empty when unknown: exports refuse that."""
    origin: str = ""
    """Public name of the source; empty takes what the file says."""
    behaviour: Behaviour = Behaviour.AGENT
    """Who chose the actions."""
    policy: str = ""
    """Name of the policy; empty takes what the file says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt as a file tells it, before it becomes a record."""

    trajectory_id: str
    task: str
    goal: str
    seed: int = 0
    steps: tuple[Step, ...]
    final: Observation | None
    outcome: Outcome
    reason: Reason
    detail: str = ""
    raw_reward: float | None = None
    policy: str = ""
    origin: str = ""


def trajectory(attempt: Attempt, known: Provenance) -> Trajectory:
    """The attempt as a record; faults follow from the pages, see `fault_of`."""
    return Trajectory(
        trajectory_id=attempt.trajectory_id,
        task=attempt.task,
        goal=attempt.goal,
        seed=attempt.seed,
        steps=with_faults(attempt.steps, attempt.final),
        final=attempt.final,
        outcome=attempt.outcome,
        reason=attempt.reason,
        detail=attempt.detail,
        raw_reward=attempt.raw_reward,
        world=World.LIVE,
        behaviour=known.behaviour,
        policy_version=known.policy or attempt.policy,
        license=known.license,
        origin=known.origin or attempt.origin,
    )


_TABS = re.compile(r"\A\s*Tab \d+(?: \(current\))?: [^\n]*\n(?:\s*\n)?")


def without_tabs(text: str) -> str:
    """A tree without WebArena's line of open tabs above it; their addresses are not recorded."""
    return _TABS.sub("", text).rstrip()


def page(url: str, tree: str, *, title: str | None = None, error: str = "") -> Observation:
    """An observation; title and focus are read from the tree where it tells them."""
    found = _TITLE.match(tree)
    named = unquote(found.group(1)) if found is not None else ""
    return Observation(
        url=url,
        title=named if title is None else title,
        tree=tree,
        focused=_focused(tree),
        last_action_error=error,
    )


def _focused(tree: str) -> str | None:
    """Bid of the element with the flag; a page that has the keyboard itself says so on its root, which has no bid."""
    for line in tree.split("\n") if _FLAG in tree else ():
        node = read_line(line) if _FLAG in line else None
        if node is not None and node.bid is not None and node.attr("focused"):
            return node.bid
    return None


_FENCED = re.compile(r"`{1,4}([^`]+)`{1,4}")


def id_call(reply: str) -> str:
    """The call in a reply of WebArena's agents: its last fence, or nothing."""
    fences = _FENCED.findall(reply)
    return fences[-1].strip() if fences else ""


def id_steps(
    observation: Observation, thought: str, call: str, tally: Tally, where: str
) -> tuple[Step, ...]:
    """`step` for a call in WebArena's id grammar."""
    try:
        actions = read_webarena(call)
    except ActionError:
        return (step(observation, thought, call, tally, where),)
    return action_steps(observation, thought, actions, tally, where)


def action_steps(
    observation: Observation,
    thought: str,
    actions: tuple[Action, ...],
    tally: Tally,
    where: str,
) -> tuple[Step, ...]:
    """A step for each action of one call: two where it typed and pressed Enter.

    No file holds the page between the two: it is the page before, with the text where its field is found.
    """
    first, *others = actions
    steps = [Step(observation=observation, thought=thought, action=first)]
    for action in others:
        if isinstance(first, Fill):
            tally.note(
                "type with Enter became fill and press, with a page between that no file holds",
                where,
            )
        steps.append(Step(observation=filled(observation, first), action=action))
    return tuple(steps)


def filled(observation: Observation, action: Action) -> Observation:
    """The page with the typed text in its field; as it was where the field is not found."""
    if not isinstance(action, Fill):
        return observation
    typed = Updated(ref=action.bid, set=(("value", action.value),))
    try:
        return apply(observation, action, Delta(kind=DeltaKind.LOCAL, updated=(typed,)))
    except DeltaError:
        return observation


def step(observation: Observation, thought: str, call: str, tally: Tally, where: str) -> Step:
    """A step from the words that were executed; `call` is empty when there was no action.

    A call that is no action here (another agent's own) stays in the thought, and is counted by name.
    """
    if not call.strip():
        tally.note("step without an action", where)
        return Step(observation=observation, thought=thought, fault=Fault.NO_ACTION)
    reply = read_reply(call)
    if reply.action is not None:
        return Step(observation=observation, thought=thought, action=reply.action)
    name = _CALL_NAME.match(call)
    shown = name.group(1) if name is not None else ""
    tally.note(f"action {shown[:40]!r} is no action here: kept as words", f"{where}: {call[:80]!r}")
    kept = f"{thought}\n{call.strip()}".strip()
    return Step(observation=observation, thought=kept, fault=Fault.MALFORMED)


def with_faults(steps: tuple[Step, ...], final: Observation | None) -> tuple[Step, ...]:
    """The steps, each with the fault that its next page shows."""
    after = [s.observation for s in steps[1:]] + [final]
    return tuple(
        replace(s, fault=fault_of(s.observation, following))
        if s.action is not None and following is not None
        else s
        for s, following in zip(steps, after, strict=True)
    )


_FAULTS = (
    (re.compile(r"could not find|no element|not found on", re.IGNORECASE), Fault.MISSING_ELEMENT),
    (re.compile(r"not enabled|disabled", re.IGNORECASE), Fault.DISABLED),
    (re.compile(r"not an <input>|not editable", re.IGNORECASE), Fault.NOT_EDITABLE),
    (re.compile(r"did not find some options", re.IGNORECASE), Fault.NOT_AN_OPTION),
)


def fault_of(before: Observation, after: Observation) -> Fault | None:
    """Why an action did not happen, judged by the pages: a recorded error after which the page changed is no fault.

    Automation reports a timeout for clicks that did navigate: of the public WebArena traces' click
    timeouts, 92 % changed the page.
    """
    error = after.last_action_error
    if not error or (before.url, before.tree) != (after.url, after.tree):
        return None
    return next((f for words, f in _FAULTS if words.search(error)), Fault.IMPOSSIBLE)


def ending(action: Action | None) -> Reason:
    """Why an episode ended after this action, where the file says only that it did."""
    answers = isinstance(action, SendMsgToUser | ReportInfeasible)
    return Reason.ANSWERED if answers else Reason.TASK_ENDED
