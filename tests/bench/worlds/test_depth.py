"""Errors compound: with one chance of an error a step, as many pages are right at depth d as the chance says (papers F10)."""

import asyncio
import math
from dataclasses import replace
from random import Random

from tests.bench.worlds.models import said
from tests.conformance.toy import FIRST, FORM_TAB, NOTES_TAB, ToyEnvironment
from tests.world.toys import walk

from dynaweb.bench.w2r import replay, replay_report
from dynaweb.contracts import Imagine, Prediction
from dynaweb.dream.config import DreamConfig
from dynaweb.dream.environment import DreamEnvironment
from dynaweb.lm.gather import Gather
from dynaweb.records.action import Click
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Behaviour, Step, Trajectory
from dynaweb.rollout.episode import EpisodeConfig, run_episode

ERROR = 0.15
DEPTH = 8
DREAMS = 250
ACTIONS = (Click(FIRST), Click(NOTES_TAB), Click(FORM_TAB))


class Script:
    """Does what it was told, whatever the page shows."""

    version = "script"

    def __init__(self, actions):
        self._actions = actions

    async def decide(self, goal, past, observation, seed):
        return Step(observation=observation, action=self._actions[len(past)])


class Errs:
    """Right but for a line too much, with a fixed chance a step; an error stays on the page."""

    version = "errs"

    def __init__(self, truth: Trajectory, seed: int) -> None:
        pages = [s.observation for s in truth.steps] + [truth.final]
        self._pages, self._seed = pages, seed

    def predict(self, questions: list[Imagine]) -> list[Prediction]:
        return [self._one(q) for q in questions]

    def _one(self, q: Imagine) -> Prediction:
        depth = len(q.history)
        page = self._pages[depth]
        wrong = q.history[-1].tree.endswith("'Error'")
        if wrong or Random(derive_seed(self._seed, depth)).random() < ERROR:
            page = replace(page, tree=page.tree + "\n\tStaticText 'Error'")
        return said(page)


def walked(seed: int) -> Trajectory:
    """What really happens: to and fro between the tabs, a tick first on half of the pages."""
    first = ACTIONS[seed % 2]
    return walk("toy-check", seed, (first, *(ACTIONS[1 + i % 2] for i in range(DEPTH - 1))))


async def dreamt_and_replayed(truth: Trajectory):
    env = ToyEnvironment()
    await env.reset(truth.task, truth.seed)
    start = await env.snapshot()
    ask = Gather(Errs(truth, truth.seed).predict, max_batch=8).ask
    dream = await run_episode(
        DreamEnvironment(ask, DreamConfig(max_steps=DEPTH, stop_loops=False)),
        Script([s.action for s in truth.steps]), trajectory_id=f"dream-{truth.seed}", task=truth.task,
        seed=truth.seed, config=EpisodeConfig(max_steps=DEPTH), behaviour=Behaviour.RANDOM, start=start,
    )  # fmt: skip
    return await replay(dream, env)


def test_the_curve_over_depth_is_that_of_compounding_errors():
    walks = [walked(seed) for seed in range(DREAMS)]

    async def all_of_them():
        return [await dreamt_and_replayed(truth) for truth in walks]

    report = replay_report(asyncio.run(all_of_them()), max_depth=DEPTH)
    assert report.broken == 0 and report.unmapped.hits == 0
    for row in report.rows:
        expected = (1 - ERROR) ** row.depth
        spread = math.sqrt(expected * (1 - expected) / DREAMS)
        assert row.pages_equal.n == DREAMS
        assert abs(row.pages_equal.fraction - expected) < 3.5 * spread, row
