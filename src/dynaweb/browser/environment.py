"""Chromium as an `Environment`: real pages, real input events, the page's own reward.

One browser for all episodes, a fresh context for each (MiniWoB++: a cleaned one, `renewal`). Page time stands still between actions, so a
page is a function of task, seed and actions: `restore` replays them and gets the same bids.
Refuses nothing by itself: the validity gate is shared with the dream (`axtree.gate`).
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
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
from dynaweb.browser.page import LivePage, first_line
from dynaweb.browser.pages import PageServer, miniwob_root
from dynaweb.browser.places import places_of
from dynaweb.browser.renewal import is_renewable
from dynaweb.browser.rest import read_at_rest
from dynaweb.browser.site import Site, Standing, result_of
from dynaweb.browser.stopwatch import Part, Stopwatch
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
from dynaweb.records.trajectory import Start, Step, World

log = logging.getLogger(__name__)

HOST = "miniwob.localhost"
CRASH_NOTICE_SEC = 0.3
T = TypeVar("T")


class BrowserEnvironment:
    """One place for one episode at a time; many of them share a browser."""

    def __init__(
        self, pool: BrowserPool, site: Site, *, uploads: Path | None = None, reuse: int = 1
    ) -> None:
        """Start nothing yet; `reset` does.

        Args:
            pool: the browser.
            site: its tasks.
            uploads: folder whose files the agent may give to a page; None switches uploads off.
            reuse: episodes that one tab may serve, cleaned in between: for sites of fixed pages.
        """
        self._pool = pool
        self._reuse = reuse
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
        self.watch = Stopwatch()
        """Where the time has gone."""

    @property
    def world(self) -> World:
        """Live."""
        return World.LIVE

    @property
    def goal(self) -> str:
        """What the user wants; known after `reset`."""
        return self._goal

    @property
    def active(self) -> LivePage:
        """The tab that the agent sees.

        Raises:
            BrowserError: there is no episode.
        """
        if self._tabs is None:
            raise BrowserError("no episode is running: call reset first")
        return self._tabs.active

    async def places(self, without: frozenset[str]) -> dict[str, str]:
        """Where each element stands: bid -> `dompaths.element_paths`; elements with these ids are skipped."""
        assert self._tabs is not None  # an episode runs
        return await places_of(self._tabs.active, self._tabs.bids.known, without)

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
        with self.watch.part(Part.TAB):
            tabs = self._tabs = Tabs(await self._pool.page())
        with self.watch.part(Part.OPEN):
            await self._site.begin(tabs.active, self._task, self._seed)

        async def read() -> Observation:
            self._goal = await self._site.goal(tabs.active, self._task)
            return await tabs.observe("")

        self._observation = await self._at_rest(tabs, self._config.settle_floor_ms, 1, read)
        self._pool.prepare()

    async def _at_rest(
        self, tabs: Tabs, floor_ms: int, frames: int, read: Callable[[], Awaitable[T]]
    ) -> T:
        cap, alive = self._config.settle_cap_ms, lambda: self._pool.alive
        return await read_at_rest(tabs, read, floor_ms=floor_ms, cap_ms=cap, frames=frames, alive=alive, watch=self.watch)  # fmt: skip

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
        refusal = None
        try:
            with self.watch.part(Part.ACT):
                refusal = await self._do(action, tabs)
        except BrowserError:
            if not self._pool.alive or not await tabs.drop_closed():
                raise
        fault, message = refusal if refusal is not None else (None, "")
        ends = isinstance(action, SendMsgToUser | ReportInfeasible)

        async def read() -> tuple[Observation, Standing | None]:
            return await asyncio.gather(
                tabs.observe(message), self._site.standing(tabs.active, self._task, ends=ends)
            )

        if ends:
            observation, standing = await read()
        else:
            floor = self._config.settle_floor_ms
            if isinstance(action, Noop):
                floor = max(0, min(int(action.wait_ms), self._config.noop_cap_ms))
            frames = 3 if isinstance(action, Scroll) else 1  # a wheel event scrolls one frame later
            observation, standing = await self._at_rest(tabs, floor, frames, read)
        return result_of(observation, fault, standing, ends=ends)

    async def _do(self, action: Action, tabs: Tabs) -> Refusal | None:
        if isinstance(action, SendMsgToUser | ReportInfeasible | Noop):
            return None
        if isinstance(action, UploadFile | MouseUploadFile):
            assert self._uploads is not None  # the gate has passed
            return await upload(tabs.active, action, tabs.bids, self._uploads)
        if type(action) in TABLE:
            return await act(tabs.active, action, tabs.bids)
        return await tabs.navigate(action, self._site.origins)

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

    async def quiet(self) -> None:
        """Wait until nothing is done in the background for past and coming episodes."""
        await self._pool.quiet()

    async def _leave(self) -> None:
        tabs, self._tabs = self._tabs, None
        whole, self._observation = self._observation is not None, None
        if tabs is None:
            return
        live, done = tabs.active, [step.action for step in self._past]
        self._crashed = live.crashed or not self._pool.alive
        live.episodes += 1
        fit = live.episodes < self._reuse and is_renewable(live, done, self._site.origins)
        if whole and fit and not self._crashed:
            tabs.release()
            self._pool.keep(live, self._site.origins)
        else:
            self._pool.discard(tabs.context)

    async def _give_up(self) -> None:
        self._observation = None
        self._pool.doubt()
        await self._leave()

    async def _guarded(self, work: Coroutine[None, None, T], what: str) -> T:
        """With a deadline; when it fails, the page is given up and the next reset starts afresh."""
        try:
            async with asyncio.timeout(self._config.deadline_sec):
                return await work
        except TimeoutError as error:
            await self._give_up()
            raise BrowserError(
                f"{what}: no answer from the page in {self._config.deadline_sec:g} s"
            ) from error
        except (PlaywrightError, BrowserError) as error:
            # The browser tells of a crash a moment after the call that it broke.
            await asyncio.sleep(CRASH_NOTICE_SEC)
            why = first_line(error) if self._pool.alive else "the browser died"
            await self._give_up()
            raise BrowserError(f"{what}: {why}") from error


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
        yield lambda: BrowserEnvironment(pool, site, reuse=config.episodes_per_tab)
    finally:
        await pool.close()
        server.close()
