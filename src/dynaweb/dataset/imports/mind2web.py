"""Mind2Web tasks (osunlp/Mind2Web, CC-BY-4.0): rows of one human demonstration each.

A row is `{annotation_id, website, domain, subdomain, confirmed_task, action_reprs, actions}`; an action holds the page before it as
cleaned HTML, the operation (CLICK, TYPE, SELECT) and the elements that are right. Elements are named by `backend_node_id`, which becomes
the bid. HTML is read with selectolax (the extra `data`): a kept parser for what real pages hold.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.dataset.imports.html import html_of_xml, html_tree
from dynaweb.dataset.imports.recorded import PageReader, Provenance, attempts
from dynaweb.dataset.imports.rows import checked_prefix, checked_rows
from dynaweb.dataset.imports.source import Told, parsed
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.action import Action, Click, Fill, Hover, Press, SelectOption
from dynaweb.records.trajectory import Behaviour, Fault, Outcome, Reason, Step, Trajectory, World


class Operation(BaseModel):
    """What was done."""

    op: str
    original_op: str = ""
    value: str = ""


class Candidate(BaseModel):
    """An element."""

    backend_node_id: str
    is_original_target: bool = False


class M2wAction(BaseModel):
    """One action, and the page before it."""

    model_config = ConfigDict(extra="ignore")
    cleaned_html: str
    operation: Operation
    pos_candidates: list[Candidate | str] = []


class M2wRow(BaseModel):
    """One task."""

    model_config = ConfigDict(extra="ignore")
    annotation_id: str
    confirmed_task: str
    website: str = ""
    actions: list[object]


def read_mind2web(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The demonstrations of a file, a JSON list or JSON lines; each up to its first invalid action."""
    rows = checked_rows(path, M2wRow, tally, "task", skip_damaged=skip_damaged)
    return attempts(rows, partial(_attempt, tally=tally), known, tally)


def _attempt(found: M2wRow, where: str, *, tally: Tally) -> Trajectory | None:
    actions = checked_prefix(found.actions, M2wAction, tally, "action", where)
    steps = tuple(_step(made, f"{where} action {i}", tally) for i, made in enumerate(actions))
    if not steps:
        return None
    whole = len(steps) == len(found.actions)
    return Trajectory(
        trajectory_id=f"mind2web.{found.annotation_id}",
        task=f"mind2web.{found.website or 'site'}",
        goal=found.confirmed_task,
        seed=0,
        steps=steps,
        outcome=Outcome.SUCCESS if whole else Outcome.UNKNOWN,
        reason=Reason.TASK_ENDED if whole else Reason.RECORDING_STOPPED,
        detail="a person's demonstration" if whole else "the recording stops at an invalid action",
        world=World.LIVE,
        behaviour=Behaviour.HUMAN,
        policy_version="Mind2Web annotators",
        origin=found.website,
    )


def _step(made: M2wAction, where: str, tally: Tally) -> Step:
    bid = _target(made.pos_candidates, tally, where)
    tree = html_tree(html_of_xml(made.cleaned_html), frozenset({bid} if bid is not None else ()))
    seen = PageReader(tally=tally, dialect=Dialect.DYNAWEB).page("", tree, where)
    action = _action(made.operation, bid) if bid is not None else None
    if action is None:
        tally.note("action without a target or of another kind", f"{where}: {made.operation.op!r}")
        return Step(observation=seen, fault=Fault.NO_ACTION)
    return Step(observation=seen, action=action)


def _action(done: Operation, bid: str) -> Action | None:
    match done.original_op or done.op, done.op:
        case "ENTER", _:
            return Press(bid, "Enter")
        case "HOVER", _:
            return Hover(bid)
        case _, "TYPE":
            return Fill(bid, done.value)
        case _, "SELECT":
            return SelectOption(bid, (done.value,))
        case _, "CLICK":
            return Click(bid)
        case _:
            return None


def _target(candidates: list[Candidate | str], tally: Tally, where: str) -> str | None:
    """The element that was used; the first right one where none is marked. Some versions hold it as JSON in text."""
    found: list[Candidate] = []
    for held in candidates:
        try:
            found.append(
                held
                if isinstance(held, Candidate)
                else Candidate.model_validate(parsed(held.encode(), Told(tally, where)))
            )
        except (ValidationError, UnicodeEncodeError):
            continue
    marked = [c for c in found if c.is_original_target] or found
    return marked[0].backend_node_id if marked else None
