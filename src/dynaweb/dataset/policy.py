"""Demonstrations into policy examples, in the very words the agent is asked with (DynaWeb A.1)."""

from collections.abc import Iterable, Iterator
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
        for found in step_examples(trajectory):
            seen += 1
            if isinstance(found, TextExample):
                examples.append(found)
            else:
                dropped[found] = dropped.get(found, 0) + 1
    return PolicyExamples(examples=tuple(examples), steps_in=seen, dropped=dropped)


def step_examples(
    trajectory: Trajectory, *, thoughts: bool = False, failures: bool = False
) -> Iterator[TextExample | str]:
    """For each step its example, or the reason why there is none.

    Args:
        trajectory: a whole attempt.
        thoughts: the reply begins with what was thought, and its action stands in a code fence.
        failures: steps of attempts that did not succeed are examples too.
    """
    past: tuple[Step, ...] = trajectory.past
    for step in trajectory.steps:
        reason = _drop_reason(trajectory, step, failures)
        if reason is not None or step.action is None:
            yield reason or "no_action"
        else:
            call = print_action(step.action)
            yield TextExample(
                task=trajectory.task,
                prompt=act_prompt(trajectory.goal, past, step.observation),
                completion=f"{step.thought}\n```{call}```".lstrip() if thoughts else call,
            )
        past = (*past, step)


def _drop_reason(trajectory: Trajectory, step: Step, failures: bool) -> str | None:
    if trajectory.outcome is not Outcome.SUCCESS and not failures:
        return f"trajectory_{trajectory.outcome.value}"
    if step.action is None:
        return "no_action"
    return f"fault_{step.fault.value}" if step.fault is not None else None
