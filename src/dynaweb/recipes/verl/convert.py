"""Attempts in the shape of verl's `AgentLoopOutput`: one row a reply, since each reply has a prompt of its own.

verl knows tokens with masks, not attempts: what is lost on the way is in docs/gspo.md. Nothing of verl is imported here.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from dynaweb.records.trajectory import Generation, Trajectory

Row: TypeAlias = dict[str, object]
"""Fields of one `AgentLoopOutput` (verl 0.9.1, `experimental/agent_loop/agent_loop.py`)."""


def output_rows(
    attempt: Trajectory,
    first_prompt: Sequence[int],
    eos_id: int,
    metrics: Mapping[str, float],
) -> list[Row]:
    """An attempt as rows, in order; verl takes the last one's reward for the attempt's.

    An attempt of unknown outcome teaches nothing by itself: its masks are all 0. verl has no place for it outside its
    group, so it counts there with reward 0, and `reward_extra_info` says so.

    Args:
        attempt: with its verdict.
        first_prompt: ids of the prompt at the start, for an attempt that broke before its first reply.
        eos_id: ends a reply.
        metrics: seconds, as `AgentLoopMetrics` names them.
    """
    known = attempt.reward is not None
    replies = [g for step in attempt.steps for g in step.generations]
    shared: Row = {
        "reward_score": attempt.reward or 0.0,
        "num_turns": 2 * len(attempt.steps),
        "metrics": dict(metrics),
    }
    # verl reads this of every row as soon as an agent loop gives rewards and more than one row
    said = {"unknown": float(not known), "steps": float(len(attempt.steps))}
    if not replies:
        bare: Row = {"prompt_ids": list(first_prompt), "response_ids": [eos_id]}
        rows = [bare | {"response_mask": [0], "response_logprobs": [0.0]}]
    else:
        rows = [_row(g, taught=known) for g in replies]
    return [r | shared | {"extra_fields": {"reward_extra_info": dict(said)}} for r in rows]


def _row(reply: Generation, *, taught: bool) -> Row:
    return {
        "prompt_ids": list(reply.prompt_ids),
        "response_ids": list(reply.completion_ids),
        "response_mask": [int(taught)] * len(reply.completion_ids),
        "response_logprobs": list(reply.logprobs) or None,
    }
