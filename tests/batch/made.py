"""Attempts of the toy site, with rewards and replies as a test wants them."""

import dataclasses

from tests.conformance.toy import SECOND, SUBMIT, first_site, goal_of, show

from dynaweb.records.action import Click, print_action
from dynaweb.records.trajectory import (
    Behaviour,
    Generation,
    Group,
    Outcome,
    Reason,
    Step,
    Trajectory,
    World,
)

TASK, SEED = "toy-check", 3


def reply(*ids: int, prompt: tuple[int, ...] = (1, 2, 3)) -> Generation:
    return Generation(
        prompt_ids=prompt,
        completion_ids=ids,
        logprobs=tuple(-0.5 for _ in ids),
        temperature=1.0,
        seed=0,
        policy_version="p0",
        raw_text=print_action(Click(SECOND)),
        finish="stop",
    )


def member(
    name: str,
    outcome: Outcome,
    *,
    behaviour: Behaviour = Behaviour.AGENT,
    world: World = World.DREAM,
    replies: tuple[Generation, ...] = (reply(4, 5),),
) -> Trajectory:
    page = show(first_site(SEED))
    actions = (Click(SECOND), Click(SUBMIT))
    steps = tuple(
        Step(observation=page, action=a, generations=replies if i == 0 else ())
        for i, a in enumerate(actions)
    )
    return Trajectory(
        trajectory_id=name,
        task=TASK,
        goal=goal_of(TASK, SEED),
        seed=SEED,
        steps=steps,
        final=page,
        outcome=outcome,
        reason=Reason.JUDGE_FAULT if outcome is Outcome.UNKNOWN else Reason.TASK_ENDED,
        world=world,
        behaviour=behaviour,
    )


def dream(name: str, reward: float | None) -> Trajectory:
    outcomes = {1.0: Outcome.SUCCESS, 0.0: Outcome.FAILURE, None: Outcome.UNKNOWN}
    return member(name, outcomes[reward])


def expert(name: str) -> Trajectory:
    return member(name, Outcome.SUCCESS, behaviour=Behaviour.EXPERT, world=World.LIVE)


def live(name: str, outcome: Outcome = Outcome.SUCCESS) -> Trajectory:
    return member(name, outcome, world=World.LIVE)


def group(*members: Trajectory) -> Group:
    return Group(start=members[0].start, members=members)


def without_replies(t: Trajectory) -> Trajectory:
    steps = tuple(dataclasses.replace(s, generations=()) for s in t.steps)
    return dataclasses.replace(t, steps=steps)
