"""Starts as one policy can use them: what it could not read, or did not write, is left out and counted.

Nothing is cut to fit: a demonstration whose prompt is longer than the context would teach another page.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from dynaweb.agent.lm_agent import act_prompt
from dynaweb.batch.tokens import render_expert
from dynaweb.dream.starts import StartPoint
from dynaweb.lm.language import Language
from dynaweb.records.trajectory import Trajectory


def readable(
    points: Sequence[StartPoint], language: Language, *, context: int, room: int
) -> tuple[tuple[StartPoint, ...], dict[str, int]]:
    """The starts, with only the ways on that this policy can be trained on.

    Args:
        points: all of them.
        language: the policy's.
        context: most tokens, prompt and reply together, that it reads.
        room: tokens that a reply must have after the prompt.

    Returns:
        The starts that are left, and reason -> how many starts, experts or own attempts are not.
    """
    left: Counter[str] = Counter()
    kept = []
    for point in points:
        prompt = act_prompt(point.start.goal, point.start.past, point.start.observation)
        length = len(language.encode(prompt).ids)
        if length + room > context:
            left["start_too_long"] += 1
            continue
        experts = tuple(t for t in point.experts if _longest(t, language) <= context)
        own = tuple(_of_before(t) for t in point.own if _speaks(t, language))
        left["expert_too_long"] += len(point.experts) - len(experts)
        left["attempt_with_other_prompts"] += len(point.own) - len(own)
        kept.append(replace(point, experts=experts, own=own))
    return tuple(kept), dict(+left)


def _of_before(own: Trajectory) -> Trajectory:
    """An attempt that was made before the run: its sampler's numbers are of other weights, and so is its version."""
    steps = tuple(
        replace(
            step,
            generations=tuple(
                replace(g, logprobs=(), policy_version=f"before {g.policy_version}")
                for g in step.generations
            ),
        )
        for step in own.steps
    )
    return replace(own, steps=steps)


def _longest(expert: Trajectory, language: Language) -> int:
    rows = [g for s in render_expert(expert, language).steps for g in s.generations]
    return max(len(g.prompt_ids) + len(g.completion_ids) for g in rows)


def _speaks(own: Trajectory, language: Language) -> bool:
    """Its prompts are those this policy is asked with: of another tokenizer or renderer they mean something else."""
    past = own.past
    for step in own.steps:
        ids = language.encode(act_prompt(own.goal, past, step.observation)).ids
        if any(g.prompt_ids != ids for g in step.generations):
            return False
        past = (*past, step)
    return True
