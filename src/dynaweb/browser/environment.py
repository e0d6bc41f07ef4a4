"""Chromium as an `Environment`: real pages, real input events, the page's own reward.

One browser for all episodes, a fresh context for each. Page time stands still between actions, so a
page is a function of task, seed and actions: `restore` replays them and gets the same bids.
Refuses nothing by itself: the validity gate is shared with the dream (`axtree.gate`).
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from playwright.async_api import Error as PlaywrightError

from dynaweb.axtree.gate import check_action
from dynaweb.browser.act import TABLE, Refusal, act
from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.miniwob import MiniwobSite
from dynaweb.browser.page import first_line
from dynaweb.browser.pages import PageServer, miniwob_root
from dynaweb.browser.settle import settle
from dynaweb.browser.site import Site, Standing
from dynaweb.browser.tabs import Tabs
from dynaweb.browser.upload import upload
from dynaweb.contracts import StepResult
from dynaweb.errors import BrowserError
from dynaweb.records.action import (
    Action,
    MouseUploadFile,
    Noop,
    ReportInfeasible,
    Scroll,
    SendMsgToUser,
    UploadFile,
    print_action,
)
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault, Start, Step, World

log = logging.getLogger(__name__)

HOST = "miniwob.localhost"
CRASH_NOTICE_SEC = 0.3
T = TypeVar("T")


class BrowserEnvironment:
    """One place for one episode at a time; many of them share a browser."""

    def __init__(self, pool: BrowserPool, site: Site, *, uploads: Path | None = None) -> None:
        """Start nothing yet; `reset` does.

        Args:
            pool: the browser.
            site: its tasks.
            uploads: folder whose files the agent may give to a page; None switches uploads off.
        """
        self._pool = pool
        self._site = site
        self._uploads = uploads
        self._config = pool.config
        self._tabs: Tabs | None = None
        self._task = ""
        self._seed = 0
        self._goal = ""
        self._past: list[Step] = []
        self._observation: Observation | None = None
        self._over = False
        self._crashed = False

    @property
    def world(self) -> World:
        """Live."""
        return World.LIVE

    @property
    def goal(self) -> str:
        """What the user wants; known after `reset`."""
        return self._goal

    async def reset(self, task: str, seed: int, start: Start | None = None) -> Observation:
        """Show the task's first page, or the page that the actions of `start` lead to.

        Raises:
            UserError: no such task, or the seed is out of range.
            MissingDependencyError: there is no browser.
            BrowserError: the browser failed, or replaying `start` ended the episode.
        """
        await self._leave()
        await self._pool.start()
        self._task, self._seed, self._past, self._over = task, seed, [], False
        what = f"reset of {task!r}, seed {seed}"
        try:
            await self._guarded(self._begin(), what)
        except BrowserError as error:
            if not self._crashed:
                raise
            # Nothing has been done yet, so a crash of the browser costs a second try and no episode.
            log.warning("%s; trying again", error)
            await self._pool.start()
            await self._guarded(self._begin(), what)
        for action in start.prefix if start is not None else ():
            result = await self.step(action)
            if result.terminated:
                raise BrowserError(
                    f"replaying {len(start.prefix) if start else 0} actions of {task!r}, seed {seed}, ended the episode at {print_action(action)}"
                )
        assert self._observation is not None
        return self._observation

    async def _begin(self) -> None:
        self._tabs = Tabs(await self._pool.page())
        live = self._tabs.active
        await self._site.begin(live, self._task, self._seed)
        await settle(live, self._config.settle_floor_ms, self._config.settle_cap_ms)
        self._goal = await self._site.goal(live, self._task)
        self._observation = await self._tabs.observe("")
        self._pool.prepare()

    async def step(self, action: Action) -> StepResult:
        """Do it and show what came of it; a bad action is a `fault`, and the page is as it was.

        Raises:
            BrowserError: the browser failed, or there is no episode; `reset` works again.
        """
        if self._observation is None or self._tabs is None or self._over:
            raise BrowserError("no episode is running: call reset first")
        begun = time.perf_counter()
        before = self._observation
        result = await self._guarded(
            self._step(action, self._tabs, before), print_action(action)[:80]
        )
        self._past.append(Step(observation=before, action=action, fault=result.fault))
        self._observation = result.observation
        self._over = result.terminated
        return replace(result, info={**result.info, "step_sec": time.perf_counter() - begun})

    async def _step(self, action: Action, tabs: Tabs, before: Observation) -> StepResult:
        refusal = check_action(before, action, uploads=self._uploads is not None)
        if refusal is not None:
            told = replace(before, last_action_error=refusal[1])
            return StepResult(observation=told, fault=refusal[0])
        refusal = await self._do(action, tabs)
        fault, message = refusal if refusal is not None else (None, "")
        observation, standing = await asyncio.gather(
            tabs.observe(message), self._site.standing(tabs.active, self._task)
        )
        ends = isinstance(action, SendMsgToUser | ReportInfeasible)
        return _result(observation, fault, standing, ends=ends)

    async def _do(self, action: Action, tabs: Tabs) -> Refusal | None:
        floor = self._config.settle_floor_ms
        if isinstance(action, SendMsgToUser | ReportInfeasible):
            return None
        if isinstance(action, Noop):
            floor = max(0, min(int(action.wait_ms), self._config.noop_cap_ms))
            refusal: Refusal | None = None
        elif isinstance(action, UploadFile | MouseUploadFile):
            assert self._uploads is not None  # the gate has passed
            refusal = await upload(tabs.active, action, tabs.bids, self._uploads)
        elif type(action) in TABLE:
            refusal = await act(tabs.active, action, tabs.bids)
        else:
            refusal = await tabs.navigate(action, self._site.origins)
        await tabs.adopt_new()
        frames = 3 if isinstance(action, Scroll) else 1  # a wheel event scrolls one frame later
        await settle(tabs.active, floor, max(floor, self._config.settle_cap_ms), frames)
        await tabs.adopt_new()
        return refusal

    async def snapshot(self) -> Start:
        """The present state: what to replay to be here again."""
        if self._observation is None:
            raise BrowserError("no episode is running: call reset first")
        return Start(
            task=self._task,
            seed=self._seed,
            goal=self._goal,
            observation=self._observation,
            prefix=tuple(s.action for s in self._past if s.action is not None),
            past=tuple(self._past),
        )

    async def restore(self, state: Start) -> Observation:
        """Go back to a state by replaying its actions on a fresh page."""
        return await self.reset(state.task, state.seed, start=state)

    async def close(self) -> None:
        """Leave the episode; the browser is the pool's. Safe to call twice."""
        await self._leave()

    async def _leave(self) -> None:
        tabs, self._tabs = self._tabs, None
        self._observation = None
        if tabs is not None:
            self._crashed = tabs.active.crashed or not self._pool.alive
            self._pool.discard(tabs.context)

    async def _guarded(self, work: Coroutine[None, None, T], what: str) -> T:
        """With a deadline; when it fails, the page is given up and the next reset starts afresh."""
        try:
            async with asyncio.timeout(self._config.deadline_sec):
                return await work
        except TimeoutError as error:
            await self._leave()
            raise BrowserError(
                f"{what}: no answer from the page in {self._config.deadline_sec:g} s"
            ) from error
        except (PlaywrightError, BrowserError) as error:
            # The browser tells of a crash a moment after the call that it broke.
            await asyncio.sleep(CRASH_NOTICE_SEC)
            await self._leave()
            raise BrowserError(f"{what}: {first_line(error)}") from error


def _result(
    observation: Observation, fault: Fault | None, standing: Standing | None, *, ends: bool
) -> StepResult:
    if standing is None:
        return StepResult(
            observation=observation,
            fault=fault,
            reward=0.0,
            terminated=True,
            info={"left_page": 1.0},
        )
    over = standing.done or ends
    return StepResult(
        observation=observation,
        fault=fault,
        reward=float(standing.done and standing.success) if over else None,
        terminated=over,
        info={"raw_reward": standing.raw_reward},
    )


@asynccontextmanager
async def miniwob_world(config: BrowserConfig) -> AsyncIterator[Callable[[], BrowserEnvironment]]:
    """Browser and page server for as long as the block runs.

    Yields:
        A function that makes an environment; call it once for each episode that runs at a time.

    Raises:
        MissingDependencyError: the pages, the port or the browser are missing.
    """
    server = PageServer(miniwob_root())
    pool = BrowserPool(config, hosts={HOST: server.origin.removeprefix("http://")})
    site = MiniwobSite(f"http://{HOST}")
    try:
        await pool.start()
        yield lambda: BrowserEnvironment(pool, site)
    finally:
        await pool.close()
        server.close()
