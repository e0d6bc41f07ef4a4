"""Agents that explore, in the toy world."""

from tests.conformance.toy import TASKS, ToyEnvironment

from dynaweb.collect.explore import Opener
from dynaweb.contracts import Agent
from dynaweb.dream.starts import StartsConfig, collect_starts
from dynaweb.records.action import Noop
from dynaweb.records.trajectory import Behaviour, Outcome
from dynaweb.rollout.episode import EpisodeConfig, run_episode


async def test_an_opening_is_one_step_and_a_place_to_dream_from() -> None:
    opener: Agent = Opener()
    task = next(iter(TASKS))
    attempt = await run_episode(
        ToyEnvironment(),
        opener,
        trajectory_id="open",
        task=task,
        seed=3,
        config=EpisodeConfig(max_steps=1),
        behaviour=Behaviour.RANDOM,
    )
    assert [s.action for s in attempt.steps] == [Noop()]
    assert attempt.outcome is Outcome.FAILURE
    (point,) = collect_starts([attempt], StartsConfig()).points
    assert point.initial and point.start.seed == 3 and not point.experts and not point.own
    assert point.start.observation == attempt.steps[0].observation
