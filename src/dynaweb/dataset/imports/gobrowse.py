"""Go-Browse's step rows (apurvaga/Go-Browse): `{step_data, traj_data, node_data, graph_data}`, one step a line, in order.

The page after the last action is not recorded. A prefix that was put before an attempt comes first, as it does in the file.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat

from dynaweb.dataset.imports.recorded import Attempt, Provenance, ending, page, step, trajectory
from dynaweb.dataset.imports.rows import Row, checked, read_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.trajectory import Outcome, Reason, Trajectory


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
    rows = (
        (found, row)
        for row in read_rows(path, tally, skip_damaged=skip_damaged)
        if (found := checked(GoBrowseRow, row, tally, "row")) is not None
    )
    for _, group in groupby(rows, key=lambda pair: pair[0].traj_data.traj_num):
        held = list(_in_order(group, tally))
        if held:
            yield trajectory(_attempt(held, tally), known)


def _in_order(
    rows: Iterator[tuple[GoBrowseRow, Row]], tally: Tally
) -> Iterator[tuple[GoBrowseRow, Row]]:
    for expected, (found, row) in enumerate(rows):
        if found.step_data.step_number != expected:
            where = f"{row.where}: step {found.step_data.step_number}, expected {expected}"
            tally.drop("step out of order, and what follows it", where, 1 + sum(1 for _ in rows))
            return
        yield found, row


def _attempt(held: list[tuple[GoBrowseRow, Row]], tally: Tally) -> Attempt:
    told = held[0][0].traj_data
    steps = tuple(
        step(
            page(_url(r.step_data.obs), r.step_data.obs.axtree_txt, error=r.step_data.obs.last_action_error or ""),
            r.step_data.thought or "",
            r.step_data.parsed_action or r.step_data.action or "",
            tally,
            row.where,
        )
        for r, row in held
    )  # fmt: skip
    missing = (told.traj_length or len(held)) - len(held)
    known = told.success is not None or told.reward is not None
    won = told.success if told.success is not None else (told.reward or 0.0) > 0
    whole = missing <= 0 and known
    site = held[0][0].graph_data.domain or held[0][0].graph_data.root_url or ""
    return Attempt(
        trajectory_id=f"gobrowse.{told.traj_num}",
        task=f"gobrowse.{site or 'site'}",
        goal=told.goal,
        seed=told.traj_num,
        steps=steps,
        final=None,
        outcome=(Outcome.SUCCESS if won else Outcome.FAILURE) if whole else Outcome.UNKNOWN,
        reason=ending(steps[-1].action) if whole and won else Reason.OUT_OF_STEPS,
        detail=""
        if whole
        else f"{missing} steps are missing"
        if missing > 0
        else "no verdict recorded",
        raw_reward=told.reward,
        policy="Go-Browse",
        origin=site,
    )


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
