"""What every importer does with a recorded page and reply: observation, action, fault, ending."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from dynaweb.agent.reply import read_reply
from dynaweb.axtree.apply import apply
from dynaweb.axtree.dialects.common import common_tree
from dynaweb.axtree.dialects.document import Dialect
from dynaweb.axtree.dialects.read import read_document
from dynaweb.axtree.tree import Tree, read_tree, render_tree
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import ActionError, DeltaError, TreeError
from dynaweb.records.action import Action, Fill, Press, ReportInfeasible, SendMsgToUser
from dynaweb.records.delta import Delta, DeltaKind, Updated
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Fault, Reason, Step, Trajectory
from dynaweb.records.webarena import read_webarena

M = TypeVar("M")

UNEXPLAINED_LINE = "line of a page is no element: kept as it stands"
"""How an import counts it."""
_CALL_NAME = re.compile(r"\W*(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What the caller knows about a file and the file does not say."""

    license: str = ""
    """SPDX name of the licence the pages may be used under; empty when unknown: exports refuse that."""
    origin: str = ""
    """Public name of the source; empty takes what the file says."""
    behaviour: Behaviour | None = None
    """Who chose the actions; None takes what the format says."""
    policy: str = ""
    """Name of the policy; empty takes what the file says."""


def completed(told: Trajectory, known: Provenance) -> Trajectory:
    """An attempt as a file tells it, with the faults that its pages show (`fault_of`) and what the caller knows of it."""
    return replace(
        told,
        steps=with_faults(told.steps, told.final),
        behaviour=known.behaviour or told.behaviour,
        policy_version=known.policy or told.policy_version,
        license=known.license or told.license,
        origin=known.origin or told.origin,
    )


def attempts(
    rows: Iterable[tuple[M, str]],
    make: Callable[[M, str], Trajectory | None],
    known: Provenance,
    tally: Tally,
) -> Iterator[Trajectory]:
    """The attempts of a file that holds one in each row.

    Args:
        rows: a row, and where it stands.
        make: reads one; None when no step of it is valid, which is counted.
        known: what the caller knows of the file.
        tally: counts what is left out.
    """
    for row, where in rows:
        made = make(row, where)
        if made is None:
            tally.drop("attempt without a valid step", where)
        else:
            yield completed(made, known)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReader:
    """Makes observations of the trees of one file.

    Trees are written in this project's dialect, ids kept: everything that reads an observation (validity gate, state changes, models) reads that one.
    """

    tally: Tally
    dialect: Dialect | None = None
    """Of the file's trees; None: found out for each."""

    def page(
        self, url: str, text: str, where: str, *, title: str | None = None, error: str = ""
    ) -> Observation:
        """An observation; address, title and focus are read from the tree where the file does not tell them."""
        tree = self._tree(text, where)
        root = tree[0] if tree and tree[0].role == "RootWebArea" else None
        address = root.attr("url") if root is not None and not url else url
        named = root.name or "" if root is not None else ""
        return Observation(
            url=address if isinstance(address, str) else "",
            title=named if title is None else title,
            tree=render_tree(tree),
            focused=next((n.bid for n in tree if n.bid is not None and n.attr("focused")), None),
            last_action_error=error,
        )

    def _tree(self, text: str, where: str) -> Tree:
        if self.dialect is Dialect.DYNAWEB or not text.strip():
            return read_tree(text)
        try:
            document = read_document(text, self.dialect)
        except TreeError:
            self.tally.note("page is no accessibility tree: kept as text", where)
            return read_tree(text)
        if document.unplaced:
            odd = document.unplaced[0]
            self.tally.note(
                UNEXPLAINED_LINE,
                f"{where}, line {odd.line}: {odd.text[:60]!r}",
                len(document.unplaced),
            )
        return common_tree(document)


_FENCED = re.compile(r"`{1,4}([^`]+)`{1,4}")


def id_call(reply: str) -> str:
    """The call in a reply of WebArena's agents: its first fence, which is what WebArena's `extract_action` takes, or nothing."""
    fence = _FENCED.search(reply)
    return fence[1].strip() if fence is not None else ""


def id_steps(
    observation: Observation, thought: str, call: str, tally: Tally, where: str
) -> tuple[Step, ...]:
    """`steps_of` for a call in WebArena's id grammar."""
    try:
        actions = read_webarena(call)
    except ActionError:
        return steps_of(observation, thought, call, tally, where)
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


def steps_of(
    observation: Observation, thought: str, call: str, tally: Tally, where: str
) -> tuple[Step, ...]:
    """The steps of the words that were executed; `call` is empty when there was no action.

    Of several actions the first is the step, as everywhere here (`agent.reply`); typing and Enter in the same field are one call in other
    grammars, and two steps here. A call that is no action here (another agent's own) stays in the thought, and is counted by name.
    """
    if not call.strip():
        tally.note("step without an action", where)
        return (Step(observation=observation, thought=thought, fault=Fault.NO_ACTION),)
    actions = read_reply(call).actions
    if actions:
        did = actions[: 2 if _types_and_enters(actions) else 1]
        more = len(actions) - len(did)
        tally.note(
            "further action of one reply left out: a step does the first", f"{where}: {call[:80]!r}", more
        )  # fmt: skip
        return action_steps(observation, thought, did, tally, where)
    name = _CALL_NAME.match(call)
    shown = name.group(1) if name is not None else ""
    tally.note(f"action {shown[:40]!r} is no action here: kept as words", f"{where}: {call[:80]!r}")
    kept = f"{thought}\n{call.strip()}".strip()
    return (Step(observation=observation, thought=kept, fault=Fault.MALFORMED),)


def _types_and_enters(actions: tuple[Action, ...]) -> bool:
    first = actions[0]
    return isinstance(first, Fill) and actions[1:2] == (Press(first.bid, "Enter"),)


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
    return Reason.ANSWERED if _answers(action) else Reason.TASK_ENDED


def stopping(action: Action | None) -> Reason:
    """Why a recording ends after this action, where the file does not say that the episode did."""
    return Reason.ANSWERED if _answers(action) else Reason.RECORDING_STOPPED


def _answers(action: Action | None) -> bool:
    return isinstance(action, SendMsgToUser | ReportInfeasible)
