"""The public WebArena traces of ColorBrowserAgent (arXiv 2601.07262; repository MadeAgents/browser-agent, Apache-2.0).

One JSON object a line, an attempt each, recorded in BrowserGym's manner (`arrivals`). Tasks are named by their template, instances are seeds, so that
splitting by task never puts one template on both sides.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat

from dynaweb.dataset.imports.arrivals import read_recording
from dynaweb.dataset.imports.recorded import PageReader, Provenance, attempts
from dynaweb.dataset.imports.rows import checked_prefix, checked_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Outcome, Trajectory, World

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
    rows = checked_rows(path, TraceRow, tally, "attempt", skip_damaged=skip_damaged)
    return attempts(rows, partial(_attempt, tally=tally), known, tally)


def _attempt(attempt: TraceRow, where: str, *, tally: Tally) -> Trajectory | None:
    found = checked_prefix(attempt.steps, TraceStep, tally, "step", where)
    held = read_recording(found, len(attempt.steps), _page, _reply, where=where, tally=tally)
    if held is None:
        return None
    won = Outcome.SUCCESS if attempt.reward >= 1.0 else Outcome.FAILURE
    return Trajectory(
        trajectory_id=f"webarena.{attempt.task_id}",
        task=f"webarena.template{attempt.intent_template_id}",
        goal=attempt.goal,
        seed=attempt.task_id,
        steps=held.steps,
        final=held.final,
        # part of the points is no success: WebArena counts a task as solved at 1.0
        outcome=won if held.over else Outcome.UNKNOWN,
        reason=held.reason,
        detail=held.detail,
        raw_reward=attempt.reward,
        world=World.LIVE,
        behaviour=Behaviour.AGENT,
        policy_version="ColorBrowserAgent",
        origin=" ".join(("WebArena", *attempt.sites)),
    )


def _page(reader: PageReader, seen: TraceStep, where: str) -> Observation:
    return reader.page(seen.url, seen.axtree, where, error=seen.last_action_error or "")


def _reply(seen: TraceStep) -> tuple[str, str]:
    """Thought and call."""
    thought = _THOUGHT.search(seen.action)
    call = _ACTION.search(seen.action)
    said = thought.group(1) if thought is not None else seen.action
    return said.strip(), call.group(1) if call is not None else ""
