"""The four worlds under test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache

from tests.conformance.cases import Case
from tests.conformance.toy import TableWorldModel, ToyEnvironment, solution, table_of
from tests.serve.running import running

from dynaweb.axtree.tree import read_tree
from dynaweb.contracts import Environment
from dynaweb.dream.config import DreamConfig
from dynaweb.dream.environment import DreamEnvironment
from dynaweb.lm.gather import Gather
from dynaweb.records.action import Action, Click, Fill
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Start
from dynaweb.serve.client import DreamServer
from dynaweb.serve.config import ServeConfig
from dynaweb.serve.world import world_app

SEEDS = range(8)


def _toy_action(goal: str, page: Observation, done: int) -> Action:
    return solution("toy-check", 0)[done]  # the bids are the same for every seed


async def _no_start(seed: int) -> Start | None:
    return None


async def _toy_start(seed: int) -> Start | None:
    toy = ToyEnvironment()
    await toy.reset("toy-check", seed)
    return await toy.snapshot()


def toy_case() -> Case:
    async def make() -> Environment:
        return ToyEnvironment()

    return Case(
        make=make,
        task="toy-check",
        next_action=_toy_action,
        n_steps=2,
        start=_no_start,
        button="Submit",
        disabled="Reset",
    )


@cache
def toy_table() -> TableWorldModel:
    return table_of(SEEDS)


def dream_case() -> Case:
    async def make() -> Environment:
        return DreamEnvironment(Gather(toy_table().predict, max_batch=64).ask, DreamConfig())

    return Case(
        make=make,
        task="toy-check",
        next_action=_toy_action,
        n_steps=2,
        start=_toy_start,
        button="Submit",
        disabled="Reset",
    )


@asynccontextmanager
async def remote_case() -> AsyncIterator[Case]:
    """The same dream, at a server on loopback."""
    app = world_app(toy_table(), DreamConfig(), ServeConfig())
    with running(app) as url:
        async with DreamServer(url) as server:

            async def make() -> Environment:
                return server.environment()

            yield replace(dream_case(), make=make)


@asynccontextmanager
async def browser_case() -> AsyncIterator[Case]:
    from dynaweb.browser.config import BrowserConfig
    from dynaweb.browser.environment import miniwob_world

    async with miniwob_world(BrowserConfig()) as world:

        async def make() -> Environment:
            return world()

        yield Case(
            make=make,
            task="enter-text",
            next_action=_enter_text,
            n_steps=2,
            start=_no_start,
            button="Submit",
        )


def _enter_text(goal: str, page: Observation, done: int) -> Action:
    """Solves MiniWoB's enter-text: the quoted word goes into the only field."""
    nodes = read_tree(page.tree)
    if done == 0:
        field = next(n.bid for n in nodes if n.role == "textbox")
        return Fill(str(field), goal.split('"')[1])
    return Click(str(next(n.bid for n in nodes if n.role == "button")))
