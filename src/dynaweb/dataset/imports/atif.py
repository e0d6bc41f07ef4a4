"""ATIF trajectories (Harbor, NeMo, neulab/adp-v2): one object a file or a line; ours come back as they were.

Of other tools' we take the goal (first user step), and for each agent step its thought, its first tool call and the page seen
before it: the content of the observation before, or of the system or user step before. Pages are whatever text the tool recorded, or
what the agent data protocol keeps beside it (`adp.py`).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict

from dynaweb.dataset.exports.atif import EXTRA
from dynaweb.dataset.imports import adp
from dynaweb.dataset.imports.recorded import (
    PageReader,
    Provenance,
    action_steps,
    completed,
    steps_of,
    stopping,
)
from dynaweb.dataset.imports.rows import (
    Row,
    as_row,
    checked,
    checked_prefix,
    read_document,
    read_rows,
)
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import ActionError, StorageError
from dynaweb.records.actioncode import KIND, decode_action
from dynaweb.records.fieldcodec import codec_for
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Outcome, Step, Trajectory, World


class Part(BaseModel):
    """A piece of content; pictures have no text."""

    type: str = "text"
    text: str | None = None


Content: TypeAlias = str | list[Part] | None


class Result(BaseModel):
    """What one call gave."""

    content: Content = None
    extra: dict[str, object] | None = None


class Seen(BaseModel):
    """What the calls of a step gave."""

    results: list[Result] = []


class Call(BaseModel):
    """One tool call."""

    function_name: str
    arguments: dict[str, object] = {}
    extra: dict[str, object] | None = None


class AtifStep(BaseModel):
    """One step of anybody."""

    step_id: int
    source: str
    message: Content = ""
    reasoning_content: str | None = None
    tool_calls: list[Call] | None = None
    observation: Seen | None = None
    extra: dict[str, object] | None = None


class Agent(BaseModel):
    """Who acted."""

    name: str
    model_name: str | None = None


class AtifDocument(BaseModel):
    """One trajectory."""

    model_config = ConfigDict(extra="ignore")
    schema_version: str
    steps: list[object]
    agent: Agent
    session_id: str | None = None
    trajectory_id: str | None = None
    extra: dict[str, object] | None = None


def read_atif(
    path: Path, known: Provenance, tally: Tally, *, whole: bool, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The trajectories of a file: one JSON document if `whole`, else one a line."""
    rows: Iterator[Row | None] = read_rows(path, tally, skip_damaged=skip_damaged)
    if whole:
        tally.rows += 1
        rows = iter([as_row(read_document(path, tally), path.name, tally)])
    for row in rows:
        found = checked(AtifDocument, row, tally, "document") if row is not None else None
        if row is None or found is None:
            continue
        steps = _valid_steps(found, row.where, tally)
        try:
            made = _ours(found, steps, row.where)
            theirs = _theirs(found, steps, row.where, tally) if made is None else None
        except StorageError as error:
            tally.drop("document of ours that was changed", str(error))
            continue
        if theirs is not None:
            made = completed(theirs, known)
        if made is None:
            tally.drop("document without a step of the agent", row.where)
        else:
            yield made


def _valid_steps(found: AtifDocument, where: str, tally: Tally) -> list[AtifStep]:
    """Steps whose ids count from 1; the rest, from the first that breaks it, is counted."""
    steps: list[AtifStep] = []
    for step in checked_prefix(found.steps, AtifStep, tally, "step", where):
        number = len(steps) + 1
        if step.step_id != number:
            place = f"{where} step {number}"
            tally.drop("step_id does not count from 1", f"{place}: {step.step_id}")
            tally.drop("step after an invalid one", place, len(found.steps) - number)
            break
        steps.append(step)
    return steps


def _ours(found: AtifDocument, steps: list[AtifStep], where: str) -> Trajectory | None:
    """The trajectory that `exports.atif` wrote; None when it did not, or steps are missing."""
    told = (found.extra or {}).get(EXTRA)
    if not isinstance(told, dict) or len(steps) != len(found.steps) or not steps:
        return None
    acted = [s for s in steps if s.source == "agent"]
    pages = [_page(_text(s.message), _own(s)) for s in steps if s.source == "system"]
    pages += [_page(_seen(s), _own(s).get("next")) for s in acted]
    made: dict[str, object] = {
        **told,
        "trajectory_id": found.trajectory_id,
        "goal": steps[0].message,
        "steps": [
            {"observation": seen, "thought": s.reasoning_content or "", **_without_next(s)}
            for s, seen in zip(acted, pages, strict=False)
        ],
    }
    if acted and pages[-1] is not None:
        made["final"] = pages[-1]
    trajectory = codec_for(Trajectory).decode(made, where)
    assert isinstance(trajectory, Trajectory)
    return trajectory


def _own(step: AtifStep) -> dict[str, object]:
    own = (step.extra or {}).get(EXTRA)
    return own if isinstance(own, dict) else {}


def _without_next(step: AtifStep) -> dict[str, object]:
    return {k: v for k, v in _own(step).items() if k != "next"}


def _page(tree: str, beside: object) -> dict[str, object] | None:
    return {**beside, "tree": tree} if isinstance(beside, dict) else None


def _theirs(
    found: AtifDocument, steps: list[AtifStep], where: str, tally: Tally
) -> Trajectory | None:
    """Any other tool's trajectory; None when no agent acts in it."""
    goal, before, url = "", "", ""
    made: list[Step] = []
    reader = PageReader(tally=tally)
    for s in steps:
        place = f"{where} step {s.step_id}"
        if s.source == "agent" and not _shows_only(s):
            tally.note("page is not recorded", place, int(not before))
            made.extend(_acted(s, reader.page(url, before, place), tally, place))
        elif s.source == "user" and not goal:
            goal = _text(s.message)
        elif s.source != "agent":
            before, url = _text(s.message), ""
        if s.observation is not None:
            before, url = _seen(s), _address(s)
    if not made:
        return None
    last = steps[-1]
    seen_last = last.source == "agent" and last.observation is not None and not _shows_only(last)
    return Trajectory(
        trajectory_id=found.trajectory_id or found.session_id or where,
        task=f"atif.{found.session_id or where}",
        goal=goal,
        steps=tuple(made),
        seed=0,
        final=reader.page(url, before, f"{where} end") if seen_last else None,
        outcome=Outcome.UNKNOWN,
        reason=stopping(made[-1].action),
        detail="ATIF holds no verdict",
        world=World.LIVE,
        behaviour=Behaviour.AGENT,
        policy_version=found.agent.model_name or found.agent.name,
    )


def _shows_only(s: AtifStep) -> bool:
    """Whether a step of the agent does and says nothing: it holds the page that was seen first."""
    return (
        not (s.tool_calls or _text(s.message) or s.reasoning_content) and s.observation is not None
    )


def _acted(s: AtifStep, seen: Observation, tally: Tally, where: str) -> tuple[Step, ...]:
    thought = s.reasoning_content or _text(s.message)
    calls = s.tool_calls or []
    tally.note(
        "further tool call of a step left out: a step does the first", where, max(len(calls) - 1, 0)
    )
    if not calls:
        answered = adp.answer(_text(s.message))
        if answered is None:
            return steps_of(seen, thought, "", tally, where)
        return (Step(observation=seen, thought=thought, action=answered),)
    call = calls[0]
    given = adp.spoken(call.arguments) if adp.is_call(call.extra) else call.arguments
    try:
        if adp.is_call(call.extra) and call.function_name == adp.TYPE:
            return action_steps(seen, thought, adp.typed(given), tally, where)
        action = decode_action({KIND: call.function_name, **given})
    except ActionError:
        words = f"{call.function_name}({json.dumps(given)})"
        return steps_of(seen, thought, words, tally, where)
    return (Step(observation=seen, thought=thought, action=action),)


def _seen(s: AtifStep) -> str:
    results = s.observation.results if s.observation is not None else []
    return "\n".join(_text(r.content) or adp.page(r.extra) for r in results)


def _address(s: AtifStep) -> str:
    results = s.observation.results if s.observation is not None else []
    return next((found for r in results if (found := adp.address(r.extra))), "")


def _text(content: Content) -> str:
    if isinstance(content, list):
        return "\n".join(part.text or "" for part in content)
    return content or ""
