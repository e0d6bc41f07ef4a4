"""Agent Trajectory Interchange Format 1.7 (Harbor's RFC 0001; models in NVIDIA's NeMo Agent Toolkit, `nat.atif`).

One object for each trajectory: the goal is the user's step, the first page a system step, and every step of the agent holds its
thought, one tool call and the next page as that call's observation. What ATIF has no word for stands in `extra`, so that
`imports.atif` gives the trajectory back, tokens of the sampler apart.
"""

from dataclasses import fields, replace

from dynaweb.dataset.exports.fields import encoded
from dynaweb.errors import UserError
from dynaweb.records.action import Action, action_name, print_action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step, Trajectory

SCHEMA = "ATIF-v1.7"
EXTRA = "dynaweb"
"""Key of our own fields inside `extra`."""


def atif_document(trajectory: Trajectory) -> dict[str, object]:
    """The trajectory as one ATIF object.

    Raises:
        UserError: it begins in the middle of an attempt, which ATIF cannot say.
    """
    if trajectory.past:
        raise UserError(
            f"trajectory {trajectory.trajectory_id[:80]!r} begins in the middle of an attempt: export the whole attempt"
        )
    pages = [s.observation for s in trajectory.steps]
    after = [*pages[1:], trajectory.final]
    steps: list[dict[str, object]] = [{"source": "user", "message": trajectory.goal}]
    if pages:
        first: dict[str, object] = {
            "source": "system",
            "message": pages[0].tree,
            "extra": {EXTRA: _beside(pages[0])},
        }
        steps.append(first)
    steps += [
        _step(s, page, i)
        for i, (s, page) in enumerate(zip(trajectory.steps, after, strict=True), 1)
    ]
    return {
        "schema_version": SCHEMA,
        "session_id": trajectory.trajectory_id,
        "trajectory_id": trajectory.trajectory_id,
        "agent": {"name": trajectory.policy_version or trajectory.behaviour.value, "version": "unknown"},
        "steps": [{"step_id": i, **step} for i, step in enumerate(steps, 1)],
        "final_metrics": {"total_steps": len(steps)},
        "extra": {EXTRA: _told(trajectory)},
    }  # fmt: skip


def _told(trajectory: Trajectory) -> dict[str, object]:
    """All but what stands in the document's own fields."""
    bare = replace(trajectory, steps=(), final=None, trajectory_id="", goal="")
    left = ("steps", "trajectory_id", "goal")
    return {k: v for k, v in encoded(bare).items() if k not in left}


def _beside(page: Observation) -> dict[str, object]:
    """A page without its tree."""
    return {k: v for k, v in encoded(page).items() if k != "tree"}


def _step(step: Step, after: Observation | None, number: int) -> dict[str, object]:
    made: dict[str, object] = {
        "source": "agent",
        "message": print_action(step.action) if step.action is not None else "",
    }
    if step.thought:
        made["reasoning_content"] = step.thought
    result: dict[str, object] = {"content": after.tree if after is not None else None}
    if step.action is not None:
        call = f"call_{number}"
        made["tool_calls"] = [
            {
                "tool_call_id": call,
                "function_name": action_name(type(step.action)),
                "arguments": _arguments(step.action),
            }
        ]
        result["source_call_id"] = call
    if after is not None:
        made["observation"] = {"results": [result]}
    own = encoded(replace(step, generations=(), thought=""))
    own.pop("observation")
    if after is not None:
        own["next"] = _beside(after)
    made["extra"] = {EXTRA: own}
    return made


def _arguments(action: Action) -> dict[str, object]:
    return {f.name: getattr(action, f.name) for f in fields(action)}
