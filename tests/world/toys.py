"""Real transitions of the toy site, as trajectories."""

import asyncio
from random import Random

from tests.conformance.toy import ToyEnvironment, all_actions, first_site, solution

from dynaweb.contracts import StepResult
from dynaweb.records.action import Action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import (
    Behaviour,
    Outcome,
    Reason,
    Step,
    Trajectory,
    World,
)


def walk(task: str, seed: int, actions: tuple[Action, ...], *, name: str = "toy") -> Trajectory:
    """The toy site, walked for real."""
    return asyncio.run(_walk(task, seed, actions, name))


async def _walk(task: str, seed: int, actions: tuple[Action, ...], name: str) -> Trajectory:
    env = ToyEnvironment()
    page: Observation = await env.reset(task, seed)
    steps: list[Step] = []
    result: StepResult | None = None
    for action in actions:
        result = await env.step(action)
        steps.append(Step(observation=page, action=action, fault=result.fault))
        page = result.observation
        if result.terminated:
            break
    ended = result is not None and result.terminated
    won = ended and result is not None and result.reward == 1.0
    return Trajectory(
        trajectory_id=f"{name}-{task}-{seed}",
        task=task,
        goal=env.goal,
        seed=seed,
        steps=tuple(steps),
        final=page,
        outcome=Outcome.SUCCESS if won else Outcome.FAILURE,
        reason=Reason.TASK_ENDED if ended else Reason.OUT_OF_STEPS,
        world=World.LIVE,
        behaviour=Behaviour.EXPERT,
    )


def expert(task: str, seed: int) -> Trajectory:
    """The shortest way to success."""
    return walk(task, seed, solution(task, seed), name="expert")


def wanderer(task: str, seed: int, *, steps: int = 5) -> Trajectory:
    """Random actions."""
    rng = Random(f"{task}{seed}")
    actions = tuple(rng.choice(all_actions(first_site(seed))) for _ in range(steps))
    return walk(task, seed, actions, name="random")
