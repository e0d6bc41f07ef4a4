"""Mind2Web tasks (osunlp/Mind2Web, CC-BY-4.0): rows of one human demonstration each.

A row is `{annotation_id, website, domain, subdomain, confirmed_task, action_reprs, actions}`; an action holds the page before it as
cleaned HTML, the operation (CLICK, TYPE, SELECT) and the elements that are right. Elements are named by `backend_node_id`, which becomes
the bid. HTML is read with selectolax (the extra `data`): a kept parser for what real pages hold. Multimodal-Mind2Web has the same a row
an action, in order, with some fields as JSON in text.
"""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Json, ValidationError

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.dataset.imports.html import html_of_xml, html_tree
from dynaweb.dataset.imports.recorded import PageReader, Provenance, attempts, completed
from dynaweb.dataset.imports.rows import checked, checked_prefix, checked_rows
from dynaweb.dataset.imports.source import Told, is_parquet, parsed
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
    operation: Operation | Json[Operation]
    """Multimodal-Mind2Web holds it as JSON in text."""
    pos_candidates: list[Candidate | str] = []


class M2wTask(BaseModel):
    """What was to be done, and where."""

    model_config = ConfigDict(extra="ignore")
    annotation_id: str
    confirmed_task: str
    website: str = ""


class M2wRow(M2wTask):
    """One task with its demonstration."""

    actions: list[object]


class M2wActionRow(M2wTask, M2wAction):
    """One action with its task, as Multimodal-Mind2Web has them."""

    target_action_index: int
    """Number of the action in the demonstration, from 0; a text in the published files."""
    action_reprs: list[str]
    """All of the demonstration, in words."""


def read_mind2web(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The demonstrations of a file, a JSON list or JSON lines; each up to its first invalid action."""
    rows = checked_rows(path, M2wRow, tally, "task", skip_damaged=skip_damaged)
    return attempts(rows, partial(_attempt, tally=tally), known, tally)


def _attempt(found: M2wRow, where: str, *, tally: Tally) -> Trajectory | None:
    actions = checked_prefix(found.actions, M2wAction, tally, "action", where)
    steps = tuple(_step(made, f"{where} action {i}", tally) for i, made in enumerate(actions))
    return _demonstration(found, steps, len(found.actions)) if steps else None


def read_mind2web_actions(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The demonstrations of a file of Multimodal-Mind2Web: a row an action, JSON or Parquet; each up to a missing action.

    Raises:
        StorageError: it cannot be read. ModuleNotFoundError: Parquet, and `pyarrow` is missing.
    """
    rows = _action_rows(path, tally, skip_damaged=skip_damaged)
    for _, group in groupby(rows, key=lambda pair: pair[0].annotation_id):
        held = list(_in_order(group, tally))
        if held:
            steps = tuple(_step(row, where, tally) for row, where in held)
            last = held[-1][0]
            yield completed(_demonstration(last, steps, len(last.action_reprs)), known)


def _action_rows(
    path: Path, tally: Tally, *, skip_damaged: bool
) -> Iterator[tuple[M2wActionRow, str]]:
    if not is_parquet(path):
        yield from checked_rows(path, M2wActionRow, tally, "row", skip_damaged=skip_damaged)
        return
    from dynaweb.dataset.imports.parquet import rows_of  # noqa: PLC0415 - pyarrow, which JSON rows do without

    for row in rows_of(path, tuple(M2wActionRow.model_fields), tally):
        found = checked(M2wActionRow, row, tally, "row")
        if found is not None:
            yield found, row.where


def _in_order(
    rows: Iterator[tuple[M2wActionRow, str]], tally: Tally
) -> Iterator[tuple[M2wActionRow, str]]:
    for expected, (found, where) in enumerate(rows):
        if found.target_action_index != expected:
            place = f"{where}: action {found.target_action_index}, expected {expected}"
            tally.drop("action out of order, and what follows it", place, 1 + sum(1 for _ in rows))
            return
        yield found, where


def _demonstration(told: M2wTask, steps: tuple[Step, ...], actions: int) -> Trajectory:
    whole = len(steps) == actions
    return Trajectory(
        trajectory_id=f"mind2web.{told.annotation_id}",
        task=f"mind2web.{told.website or 'site'}",
        goal=told.confirmed_task,
        seed=0,
        steps=steps,
        outcome=Outcome.SUCCESS if whole else Outcome.UNKNOWN,
        reason=Reason.TASK_ENDED if whole else Reason.RECORDING_STOPPED,
        detail="a person's demonstration"
        if whole
        else "the recording stops at an invalid or missing action",
        world=World.LIVE,
        behaviour=Behaviour.HUMAN,
        policy_version="Mind2Web annotators",
        origin=told.website,
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
