"""The public WebArena traces of ColorBrowserAgent (arXiv 2601.07262; repository MadeAgents/browser-agent, Apache-2.0).

One JSON object a line, an attempt each, recorded in BrowserGym's manner (`arrivals`). Tasks are named by their template, instances are seeds, so that
splitting by task never puts one template on both sides.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat

from dynaweb.dataset.imports.arrivals import ended, until_over
from dynaweb.dataset.imports.recorded import Attempt, Provenance, page, step, trajectory
from dynaweb.dataset.imports.rows import as_row, checked, read_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Outcome, Step, Trajectory

_THOUGHT = re.compile(r"<think>(.*?)(?:</think>|<action>|$)", re.DOTALL)
_ACTION = re.compile(r"<action>(.*?)</action>", re.DOTALL)
"""Closed: the harness that wrote the traces executed nothing from a reply that was cut off."""


class TraceRow(BaseModel):
    """One attempt."""

    model_config = ConfigDict(strict=True, extra="allow")
    task_id: int
    intent_template_id: int
    goal: str
    reward: FiniteFloat
    steps: list[object]
    sites: list[str] = []


class TraceStep(BaseModel):
    """One page, what came with it, and the reply to it."""

    model_config = ConfigDict(strict=True, extra="allow")
    url: str
    axtree: str
    action: str
    last_action_error: str | None = ""
    last_action: str | None = None
    terminated: bool = False
    truncated: bool = False
    reward: FiniteFloat = 0.0
    n_tabs: int = 1


def read_webarena_traces(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The attempts of a traces file, one at a time."""
    for row in read_rows(path, tally, skip_damaged=skip_damaged):
        attempt = checked(TraceRow, row, tally, "attempt")
        if attempt is None:
            continue
        seen = list(until_over(_rows(attempt, row.where, tally), row.where, tally))
        if seen:
            yield trajectory(_attempt(attempt, seen, row.where, tally), known)
        else:
            tally.drop("attempt without a valid step", row.where)


def _rows(attempt: TraceRow, where: str, tally: Tally) -> list[TraceStep | None]:
    """Steps up to the first that is not one; None stands for it."""
    rows: list[TraceStep | None] = []
    for number, value in enumerate(attempt.steps):
        row = as_row(value, f"{where} steps[{number}]", tally, maybe_lone=False)
        rows.append(checked(TraceStep, row, tally, "step") if row is not None else None)
        if rows[-1] is None:
            return rows + [None] * (len(attempt.steps) - number - 1)
    return rows


def _attempt(attempt: TraceRow, seen: list[TraceStep], where: str, tally: Tally) -> Attempt:
    last = seen[-1]
    over = last.terminated or last.truncated
    steps = [
        _step(s, f"{where} steps[{i}]", tally) for i, s in enumerate(seen[:-1] if over else seen)
    ]
    if over:
        steps.append(Step(observation=_page(last)))
    end = ended(
        last,
        steps,
        replied=_ACTION.search(last.action) is not None,
        whole=len(seen) == len(attempt.steps),
        where=where,
        tally=tally,
    )
    return Attempt(
        trajectory_id=f"webarena.{attempt.task_id}",
        task=f"webarena.template{attempt.intent_template_id}",
        goal=attempt.goal,
        seed=attempt.task_id,
        steps=end.steps,
        final=end.final,
        outcome=_outcome(attempt) if end.over else Outcome.UNKNOWN,
        reason=end.reason,
        detail=end.detail,
        raw_reward=attempt.reward,
        policy="ColorBrowserAgent",
        origin=" ".join(("WebArena", *attempt.sites)),
    )


def _outcome(attempt: TraceRow) -> Outcome:
    """Part of the points is no success: WebArena counts a task as solved at 1.0."""
    return Outcome.SUCCESS if attempt.reward >= 1.0 else Outcome.FAILURE


def _page(seen: TraceStep) -> Observation:
    return page(seen.url, seen.axtree, error=seen.last_action_error or "")


def _step(seen: TraceStep, where: str, tally: Tally) -> Step:
    thought = _THOUGHT.search(seen.action)
    calls = _ACTION.findall(seen.action)
    return step(
        _page(seen),
        (thought.group(1) if thought is not None else seen.action).strip(),
        calls[-1] if calls else "",
        tally,
        where,
    )
