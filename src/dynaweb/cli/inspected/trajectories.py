"""`dynaweb inspect` on trajectories: what a file holds, what is odd about it, and one of them step by step."""

from collections.abc import Iterator
from dataclasses import asdict

from dynaweb.axtree.label import label_action
from dynaweb.cli.inspected.transition import (
    Line,
    change_line,
    look_at,
    page_line,
    transition_facts,
)
from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.tally import Tally, told
from dynaweb.dataset.survey import Survey
from dynaweb.errors import UserError
from dynaweb.records.action import print_action
from dynaweb.records.trajectory import Step, Trajectory, Transition

MAX_SENTENCES = 12
"""Of a step's change, in a trajectory shown step by step."""
MAX_NAMED = 8
"""Tasks that are named; `--json` has all."""


def survey_facts(found: Survey, kind: Format, tally: Tally) -> dict[str, object]:
    """What there is to say about a file, ready for JSON."""
    counted = {k: v for k, v in asdict(found).items() if k != "lengths"}
    spread = {"least": min(found.lengths, default=0), "median": found.median_steps, "most": max(found.lengths, default=0)}  # fmt: skip
    return {
        "kind": "trajectories",
        "format": kind.value,
        "rows": tally.rows,
        **counted,
        "steps_each": spread,
        "odd": tally.noted,
        "left_out": tally.dropped,
        "first": tally.first,
    }


def survey_lines(found: Survey, kind: Format, tally: Tally) -> Iterator[Line]:
    """The same for people, line by line."""
    rows = f", from {tally.rows} rows" if tally.rows not in (0, found.trajectories) else ""
    yield "bold", f"trajectories  {found.trajectories} in format {kind.value}{rows}"
    if found.lengths:
        yield (
            "",
            f"steps         {found.steps}: {min(found.lengths)} to {max(found.lengths)} each, median {found.median_steps:g}",
        )
    if found.transitions:
        yield (
            "",
            f"transitions   {found.transitions} with a next page, {found.unchanged} of them changed nothing",
        )
    yield "", f"tasks         {_named(found.tasks)}"
    yield "", f"endings       {_named(found.endings)}"
    yield "", f"made in       {_named(found.actors)}"
    if found.faults:
        yield "", f"faults        {_named(found.faults)}"
    if found.licenses.get(""):
        yield (
            "yellow",
            f"licence       unknown for {found.licenses['']}: `dynaweb export` refuses pages without one",
        )
    for line in told(tally.noted, tally.first):
        yield "yellow", f"odd           {line.strip()}"
    for line in told(tally.dropped, tally.first):
        yield "red", f"left out      {line.strip()}"
    if not tally.noted and not tally.dropped:
        yield "", "odd           nothing"


def _named(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = (
        f", and {len(ordered) - MAX_NAMED} more (--json has all)"
        if len(ordered) > MAX_NAMED
        else ""
    )
    return ", ".join(f"{name}: {count}" for name, count in ordered[:MAX_NAMED]) + more


def transition_at(t: Trajectory, number: int) -> Transition:
    """The transition of a step.

    Args:
        t: the trajectory.
        number: of the step, counted from 1.

    Raises:
        UserError: no such step, or it has no action or no next page.
    """
    if not 1 <= number <= len(t.steps):
        raise UserError(
            f"{t.trajectory_id[:80]!r} has {len(t.steps)} steps, counted from 1: there is no step {number}"
        )
    step = t.steps[number - 1]
    if step.action is None:
        raise UserError(
            f"step {number} of {t.trajectory_id[:80]!r} has no action, so it is no transition"
        )
    found = t.suffix(number - 1).transitions()
    if not found or (number == len(t.steps) and t.final is None):
        raise UserError(f"the page after step {number} of {t.trajectory_id[:80]!r} is not recorded")
    return found[0]


def walk_facts(t: Trajectory) -> dict[str, object]:
    """A trajectory step by step, ready for JSON."""
    return {
        "kind": "trajectory",
        "trajectory_id": t.trajectory_id,
        "task": t.task,
        "goal": t.goal,
        "seed": t.seed,
        "world": t.world.value,
        "behaviour": t.behaviour.value,
        "policy_version": t.policy_version,
        "outcome": t.outcome.value,
        "reason": t.reason.value,
        "detail": t.detail,
        "license": t.license,
        "origin": t.origin,
        "steps": [_step_facts(t, number, step) for number, step in enumerate(t.steps, start=1)],
    }


def _step_facts(t: Trajectory, number: int, step: Step) -> dict[str, object]:
    seen = _transition(t, number)
    facts: dict[str, object] = {
        "step": number,
        "url": step.observation.url,
        "title": step.observation.title,
        "thought": step.thought,
        "action": print_action(step.action) if step.action is not None else None,
        "fault": step.fault.value if step.fault is not None else None,
    }
    if seen is not None:
        facts["change"] = transition_facts(look_at(f"step {number}", seen))["change"]
    return facts


def walk_lines(t: Trajectory) -> Iterator[Line]:
    """A trajectory step by step: each page on one line, the action, and what it changed."""
    yield "bold", f"trajectory {t.trajectory_id}"
    yield (
        "",
        f"task      {t.task}, seed {t.seed}, {t.world} world, by {t.behaviour} {t.policy_version}".rstrip(),
    )
    yield "", f"goal      {t.goal}"
    for number, step in enumerate(t.steps, start=1):
        yield "", ""
        yield "bold", f"step {number}    {page_line(step.observation)}"
        if step.observation.last_action_error:
            yield "yellow", f"error     {step.observation.last_action_error}"
        if step.thought:
            yield "dim", f"thought   {step.thought}"
        yield from _action(t, number, step)
    yield "", ""
    if t.final is not None:
        yield "bold", f"end       {page_line(t.final)}"
    yield "bold", f"outcome   {t.outcome} ({t.reason}{': ' + t.detail if t.detail else ''})"


def _action(t: Trajectory, number: int, step: Step) -> Iterator[Line]:
    if step.action is None:
        yield (
            "yellow",
            f"action    none ({step.fault.value if step.fault is not None else 'nothing was done'})",
        )
        return
    yield "", f"action    {label_action(step.action, step.observation)}"
    if step.fault is not None:
        yield "yellow", f"fault     {step.fault.value}: the action did not happen"
    seen = _transition(t, number)
    if seen is None or not (seen.observation.tree.strip() and seen.next_observation.tree.strip()):
        yield "dim", "change    unknown: not both pages are recorded"
        return
    look = look_at(f"step {number}", seen)
    yield "", f"change    {change_line(look.change)}"
    sentences = look.words.split("\n")
    yield from (("green", f"            {sentence}") for sentence in sentences[:MAX_SENTENCES])
    if len(sentences) > MAX_SENTENCES:
        left = len(sentences) - MAX_SENTENCES
        yield "dim", f"            ... {left} more sentences (--step {number} has them)"


def _transition(t: Trajectory, number: int) -> Transition | None:
    try:
        return transition_at(t, number)
    except UserError:
        return None
