"""An environment behind a proxy: what a page shows counts only while the proxy is there.

A dead proxy makes every page break, and a page that was loading when it died may show half of itself. Neither is the page's
doing: both end the crawl, with nothing written of them, so that the same command goes on with the same addresses.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from dynaweb.browser.egress.way import WayOut
from dynaweb.contracts import Environment, StepResult
from dynaweb.errors import BrowserError
from dynaweb.records.action import Action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Start, World

T = TypeVar("T")


class ProxiedEnvironment:
    """Around an environment whose pages come by a way out; satisfies `contracts.Environment`."""

    def __init__(self, env: Environment, way: WayOut) -> None:
        """Wrap."""
        self._env = env
        self._way = way

    @property
    def world(self) -> World:
        """The environment's."""
        return self._env.world

    @property
    def goal(self) -> str:
        """What the user wants; known after `reset`."""
        return self._env.goal

    async def reset(self, task: str, seed: int, start: Start | None = None) -> Observation:
        """As the environment's.

        Raises:
            UserError: no such task. BrowserError: the world failed. MissingDependencyError: the proxy is gone.
        """
        return await self._checked(self._env.reset(task, seed, start))

    async def step(self, action: Action) -> StepResult:
        """As the environment's.

        Raises:
            BrowserError: the world failed. MissingDependencyError: the proxy is gone.
        """
        return await self._checked(self._env.step(action))

    async def snapshot(self) -> Start:
        """As the environment's."""
        return await self._env.snapshot()

    async def restore(self, state: Start) -> Observation:
        """As the environment's.

        Raises:
            BrowserError: the world failed. MissingDependencyError: the proxy is gone.
        """
        return await self._checked(self._env.restore(state))

    async def close(self) -> None:
        """Free everything; safe to call twice."""
        await self._env.close()

    async def _checked(self, work: Awaitable[T]) -> T:
        try:
            seen = await work
        except BrowserError:
            await asyncio.to_thread(self._way.require)
            raise
        await asyncio.to_thread(self._way.require)
        return seen
