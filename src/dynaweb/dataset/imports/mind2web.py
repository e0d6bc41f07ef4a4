"""Mind2Web tasks (osunlp/Mind2Web, CC-BY-4.0): rows of one human demonstration each.

A row is `{annotation_id, website, domain, subdomain, confirmed_task, action_reprs, actions}`; an action holds the page before it as
cleaned HTML, the operation (CLICK, TYPE, SELECT) and the elements that are right. Elements are named by `backend_node_id`, which becomes
the bid. HTML is read with selectolax (the extra `data`): a kept parser for what real pages hold.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from dynaweb.dataset.imports.html import html_tree
from dynaweb.dataset.imports.recorded import Attempt, Provenance, page, trajectory
from dynaweb.dataset.imports.rows import as_row, checked, read_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.action import Action, Click, Fill, Hover, Press, SelectOption
from dynaweb.records.trajectory import Fault, Outcome, Reason, Step, Trajectory


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
    for row in read_rows(path, tally, skip_damaged=skip_damaged):
        found = checked(M2wRow, row, tally, "task")
        if found is None:
            continue
        steps = list(_steps(found, row.where, tally))
        if steps:
            yield trajectory(_attempt(found, steps), known)
        else:
            tally.drop("task without a valid action", row.where)


def _steps(found: M2wRow, where: str, tally: Tally) -> Iterator[Step]:
    for number, value in enumerate(found.actions):
        place = f"{where} actions[{number}]"
        row = as_row(value, place, tally, maybe_lone=False)
        made = checked(M2wAction, row, tally, "action") if row is not None else None
        if made is None:
            tally.drop("action after an invalid one", place, len(found.actions) - number - 1)
            return
        bid = _target(made.pos_candidates)
        seen = page("", html_tree(made.cleaned_html, frozenset({bid} if bid is not None else ())))
        action = _action(made.operation, bid) if bid is not None else None
        if action is None:
            tally.note(
                "action without a target or of another kind", f"{place}: {made.operation.op!r}"
            )
        yield Step(
            observation=seen, action=action, fault=None if action is not None else Fault.NO_ACTION
        )


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


def _target(candidates: list[Candidate | str]) -> str | None:
    """The element that was used; the first right one where none is marked. Some versions hold it as JSON in text."""
    found: list[Candidate] = []
    for held in candidates:
        try:
            found.append(Candidate.model_validate_json(held) if isinstance(held, str) else held)
        except ValidationError:
            continue
    marked = [c for c in found if c.is_original_target] or found
    return marked[0].backend_node_id if marked else None


def _attempt(found: M2wRow, steps: list[Step]) -> Attempt:
    whole = len(steps) == len(found.actions)
    return Attempt(
        trajectory_id=f"mind2web.{found.annotation_id}",
        task=f"mind2web.{found.website or 'site'}",
        goal=found.confirmed_task,
        steps=tuple(steps),
        final=None,
        outcome=Outcome.SUCCESS if whole else Outcome.UNKNOWN,
        reason=Reason.TASK_ENDED if whole else Reason.BROWSER_FAULT,
        detail="a person's demonstration" if whole else "the recording stops at an invalid action",
        policy="Mind2Web annotators",
        origin=found.website,
    )
