"""The public WebArena traces of ColorBrowserAgent (arXiv 2601.07262; repository MadeAgents/browser-agent, Apache-2.0).

One JSON object a line, an attempt each. A row of `steps` holds a page and the reply to it; `reward`, `terminated` and
`truncated` belong to the arrival at that page. So once a row is terminated or truncated its page is what the episode
ended on, and its reply was never executed: it is no step. Tasks are named by their template, instances are seeds, so that
splitting by task never puts one template on both sides.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat

from dynaweb.dataset.imports.recorded import Attempt, Provenance, ending, page, step, trajectory
from dynaweb.dataset.imports.rows import Row, checked, read_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.trajectory import Outcome, Reason, Step, Trajectory

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
        seen = list(_valid_steps(attempt, row.where, tally))
        if seen:
            yield trajectory(_attempt(attempt, seen, row.where, tally), known)
        else:
            tally.drop("attempt without a valid step", row.where)


def _valid_steps(attempt: TraceRow, where: str, tally: Tally) -> Iterator[TraceStep]:
    """Steps up to the first that is not one, or that ended the episode; the rest is counted."""
    for number, fields in enumerate(attempt.steps):
        place = f"{where} steps[{number}]"
        found = None
        if isinstance(fields, dict):
            found = checked(TraceStep, Row(where=place, fields=fields), tally, "step")
        else:
            tally.drop("step is not a JSON object", place)
        left = len(attempt.steps) - number - 1
        if found is None:
            tally.drop("step after an invalid one", place, left)
            return
        yield found
        if found.terminated or found.truncated:
            tally.drop("step after the episode's end", place, left)
            return


def _attempt(attempt: TraceRow, seen: list[TraceStep], where: str, tally: Tally) -> Attempt:
    last = seen[-1]
    over = last.terminated or last.truncated
    whole = over or len(seen) == len(attempt.steps)
    if over and _ACTION.search(last.action):
        tally.note("reply after the episode's end was not executed: left out", where)
    if not over:
        tally.note("recording stops before the episode's end: outcome unknown", where)
    steps = tuple(
        _step(s, f"{where} steps[{i}]", tally) for i, s in enumerate(seen[:-1] if over else seen)
    )
    done = steps[-1].action if steps else None
    return Attempt(
        trajectory_id=f"webarena.{attempt.task_id}",
        task=f"webarena.template{attempt.intent_template_id}",
        goal=attempt.goal,
        seed=attempt.task_id,
        steps=steps,
        final=page(last.url, last.axtree, error=last.last_action_error or "") if over else None,
        outcome=_outcome(attempt) if over else Outcome.UNKNOWN,
        reason=(ending(done) if last.terminated else Reason.OUT_OF_STEPS)
        if over
        else Reason.BROWSER_FAULT,
        detail="" if over else f"the recording stops{'' if whole else ' at an invalid step'}",
        raw_reward=attempt.reward,
        policy="ColorBrowserAgent",
        origin=" ".join(("WebArena", *attempt.sites)),
    )


def _outcome(attempt: TraceRow) -> Outcome:
    """Part of the points is no success: WebArena counts a task as solved at 1.0."""
    return Outcome.SUCCESS if attempt.reward >= 1.0 else Outcome.FAILURE


def _step(seen: TraceStep, where: str, tally: Tally) -> Step:
    thought = _THOUGHT.search(seen.action)
    calls = _ACTION.findall(seen.action)
    return step(
        page(seen.url, seen.axtree, error=seen.last_action_error or ""),
        (thought.group(1) if thought is not None else seen.action).strip(),
        calls[-1] if calls else "",
        tally,
        where,
    )
