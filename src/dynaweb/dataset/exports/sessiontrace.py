"""The Hub's Session Trace Simple Format: a header line, then messages; the Hub shows it in its trace viewer.

Format: huggingface.co/docs/hub/session-traces-format. Tool calls are written as words, which every viewer can show.
"""

import re
from collections.abc import Iterator

from dynaweb.records.action import print_action
from dynaweb.records.trajectory import Trajectory

_NOT_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def file_name(trajectory: Trajectory, number: int) -> str:
    """A name for its file that no other trajectory has and every file system takes."""
    return f"{number:05d}-{_NOT_A_NAME.sub('_', trajectory.trajectory_id)[:80]}.jsonl"


def trace_lines(trajectory: Trajectory) -> Iterator[dict[str, object]]:
    """The lines of one session."""
    yield {
        "type": "session",
        "harness": "dynaweb",
        "id": trajectory.trajectory_id,
        "name": trajectory.goal,
        "task": trajectory.task,
        "world": trajectory.world.value,
        "outcome": trajectory.outcome.value,
    }
    ask = trajectory.goal
    for step in trajectory.steps:
        error = (
            f"\n{step.observation.last_action_error}" if step.observation.last_action_error else ""
        )
        yield _message("user", f"{ask}\n\n{step.observation.tree}{error}".strip())
        call = print_action(step.action) if step.action is not None else ""
        yield _message("assistant", f"{step.thought}\n\n{call}".strip())
        ask = ""
    if trajectory.final is not None:
        yield _message("user", trajectory.final.tree)


def _message(role: str, content: str) -> dict[str, object]:
    return {"type": "message", "message": {"role": role, "content": content}}
