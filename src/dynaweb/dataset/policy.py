"""Demonstrations into policy examples, in the very words the agent is asked with (DynaWeb A.1)."""

from collections.abc import Iterable
from dataclasses import dataclass

from dynaweb.agent.lm_agent import act_prompt
from dynaweb.records.action import print_action
from dynaweb.records.trajectory import Outcome, Step, Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class TextExample:
    """A prompt and the reply to learn."""

    task: str
    prompt: str
    completion: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyExamples:
    """Examples and what was left out: `steps_in == len(examples) + sum(dropped.values())`."""

    examples: tuple[TextExample, ...]
    steps_in: int
    dropped: dict[str, int]
    """Reason -> number of steps."""


def policy_examples(trajectories: Iterable[Trajectory]) -> PolicyExamples:
    """One example for each step of each successful trajectory that acted without a fault."""
    examples: list[TextExample] = []
    dropped: dict[str, int] = {}
    seen = 0
    for trajectory in trajectories:
        past: tuple[Step, ...] = trajectory.past
        for step in trajectory.steps:
            seen += 1
            reason = _drop_reason(trajectory, step)
            if reason is None and step.action is not None:
                prompt = act_prompt(trajectory.goal, past, step.observation)
                completion = print_action(step.action)
                examples.append(
                    TextExample(task=trajectory.task, prompt=prompt, completion=completion)
                )
            elif reason is not None:
                dropped[reason] = dropped.get(reason, 0) + 1
            past = (*past, step)
    return PolicyExamples(examples=tuple(examples), steps_in=seen, dropped=dropped)


def _drop_reason(trajectory: Trajectory, step: Step) -> str | None:
    if trajectory.outcome is not Outcome.SUCCESS:
        return f"trajectory_{trajectory.outcome.value}"
    if step.action is None:
        return "no_action"
    return f"fault_{step.fault.value}" if step.fault is not None else None
