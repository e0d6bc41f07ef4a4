"""Go-Browse's step rows (apurvaga/Go-Browse): `{step_data, traj_data, node_data, graph_data}`, one step a line, in order.

The page after the last action is not recorded. A prefix that was put before an attempt comes first, as it does in the file.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.dataset.imports.recorded import (
    PageReader,
    Provenance,
    completed,
    ending,
    steps_of,
    stopping,
)
from dynaweb.dataset.imports.rows import checked_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.action import Action
from dynaweb.records.trajectory import Behaviour, Outcome, Reason, Step, Trajectory, World


class Seen(BaseModel):
    """What the agent saw."""

    axtree_txt: str
    url: str | None = None
    open_pages_urls: list[str] = []
    active_page_index: list[int] | int = 0
    last_action_error: str | None = None


class StepData(BaseModel):
    """One step."""

    obs: Seen
    action: str | None = None
    parsed_action: str | None = None
    thought: str | None = None
    step_number: int = 0


class TrajData(BaseModel):
    """The attempt it belongs to."""

    goal: str
    traj_num: int
    reward: FiniteFloat | None = None
    success: bool | None = None
    response: str | None = None
    traj_length: int | None = None


class NodeData(BaseModel):
    """The page it was explored from."""

    node_url: str = ""


class GraphData(BaseModel):
    """The site."""

    domain: str | None = None
    root_url: str | None = None


class GoBrowseRow(BaseModel):
    """One line."""

    model_config = ConfigDict(extra="allow")
    step_data: StepData
    traj_data: TrajData
    node_data: NodeData = NodeData()
    graph_data: GraphData = GraphData()


def read_gobrowse(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The attempts of a file, each ended where a step is missing or out of order."""
    rows = checked_rows(path, GoBrowseRow, tally, "row", skip_damaged=skip_damaged)
    for _, group in groupby(rows, key=lambda pair: pair[0].traj_data.traj_num):
        held = list(_in_order(group, tally))
        if held:
            yield completed(_attempt(held, tally), known)


def _in_order(
    rows: Iterator[tuple[GoBrowseRow, str]], tally: Tally
) -> Iterator[tuple[GoBrowseRow, str]]:
    for expected, (found, where) in enumerate(rows):
        if found.step_data.step_number != expected:
            place = f"{where}: step {found.step_data.step_number}, expected {expected}"
            tally.drop("step out of order, and what follows it", place, 1 + sum(1 for _ in rows))
            return
        yield found, where


def _attempt(held: list[tuple[GoBrowseRow, str]], tally: Tally) -> Trajectory:
    told = held[0][0].traj_data
    steps = tuple(s for row, where in held for s in _steps(row.step_data, where, tally))
    missing = max((told.traj_length or len(held)) - len(held), 0)
    outcome = _outcome(told) if not missing else Outcome.UNKNOWN
    detail = f"{missing} steps are missing" if missing else "no verdict recorded"
    site = held[0][0].graph_data.domain or held[0][0].graph_data.root_url or ""
    return Trajectory(
        trajectory_id=f"gobrowse.{told.traj_num}",
        task=f"gobrowse.{site or 'site'}",
        goal=told.goal,
        seed=told.traj_num,
        steps=steps,
        outcome=outcome,
        reason=Reason.RECORDING_STOPPED if missing else _reason(outcome, steps[-1].action),
        detail=detail if outcome is Outcome.UNKNOWN else "",
        raw_reward=told.reward,
        world=World.LIVE,
        behaviour=Behaviour.AGENT,
        policy_version="Go-Browse",
        origin=site,
    )


def _outcome(told: TrajData) -> Outcome:
    if told.success is None and told.reward is None:
        return Outcome.UNKNOWN
    won = told.success if told.success is not None else (told.reward or 0.0) > 0
    return Outcome.SUCCESS if won else Outcome.FAILURE


def _reason(outcome: Outcome, last: Action | None) -> Reason:
    """Of a whole attempt: one that was lost without an answer ran out of steps."""
    if outcome is Outcome.SUCCESS:
        return ending(last)
    stops = stopping(last)
    lost = outcome is Outcome.FAILURE and stops is Reason.RECORDING_STOPPED
    return Reason.OUT_OF_STEPS if lost else stops


def _steps(told: StepData, where: str, tally: Tally) -> tuple[Step, ...]:
    obs, reader = told.obs, PageReader(tally=tally, dialect=Dialect.BROWSERGYM)
    seen = reader.page(_url(obs), obs.axtree_txt, where, error=obs.last_action_error or "")
    call = told.parsed_action or told.action or ""
    return steps_of(seen, told.thought or "", call, tally, where)


def _url(seen: Seen) -> str:
    """BrowserGym holds the active tab's address apart from the list of all."""
    if seen.url is not None:
        return seen.url
    index = (
        seen.active_page_index
        if isinstance(seen.active_page_index, int)
        else next(iter(seen.active_page_index), 0)
    )
    return seen.open_pages_urls[index] if 0 <= index < len(seen.open_pages_urls) else ""
