"""Inject every fault for real, one after the other, and see what came of the step, the next episode and what is left."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import psutil

from dynaweb.axtree.tree import read_tree
from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.family import lives
from dynaweb.browser.scratch import held_by
from dynaweb.errors import BrowserError, MissingDependencyError, UserError
from dynaweb.recipes.faults.cases import CASES, FaultCase
from dynaweb.recipes.faults.server import HostileServer, HostileSite
from dynaweb.records.action import Click
from dynaweb.records.observation import Observation
from dynaweb.runs.progress import Progress

GRACE_SEC = 2.0
"""How much longer than its deadline a step may take to end."""
INJECT_AFTER_SEC = 0.3
PATIENCE_SEC = 5.0
"""For what ended to be gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRow:
    """What came of one fault."""

    fault: str
    what: str
    expected: str
    came: str
    """`page`, `error` (a `BrowserError`) or `bug` (anything else)."""
    said: str
    """The error's words; title of the page otherwise."""
    seconds: float
    """Wall clock of the step, or of the reset that met the fault."""
    over_sec: float
    """Beyond the deadline; 0 when within."""
    next_ok: bool
    """The same environment took the next episode, and its page did what it should."""
    next_sec: float
    """Wall clock of that episode: a dead browser is started again in it."""
    left_processes: int
    """Of browsers that were replaced, and renderers beyond those that one episode needs."""
    left_folders: int
    """Temporary folders of browsers that were replaced."""

    @property
    def ok(self) -> bool:
        """Came what was expected, in time, without a trace."""
        return (
            self.came in (("page", "error") if self.expected == "either" else (self.expected,))
            and self.over_sec <= GRACE_SEC
            and self.next_ok
            and not self.left_processes
            and not self.left_folders
        )


def chosen_faults(names: Sequence[str]) -> tuple[FaultCase, ...]:
    """The faults of these names; all of them when there are none.

    Raises:
        UserError: no such fault.
    """
    known = {case.name: case for case in CASES}
    for name in names:
        if name not in known:
            raise UserError(f"no fault {name!r}: use {', '.join(known)}")
    return tuple(known[n] for n in names) or CASES


async def inject_faults(
    cases: Sequence[FaultCase], config: BrowserConfig, progress: Progress
) -> list[FaultRow]:
    """Inject each, in one browser that is to survive them all.

    Args:
        cases: which.
        config: browser and deadline; tabs are not prefetched, so that what is left can be counted.
        progress: told after each.

    Raises:
        MissingDependencyError: there is no browser.
    """
    rows: list[FaultRow] = []
    async with _bench(replace(config, prefetch=0)) as bench:
        for case in cases:
            progress("faults", len(rows), len(cases), case.name)
            rows.append(await bench.meet(case))
        progress("faults", len(rows), len(cases))
    return rows


class _Bench:
    def __init__(self, pool: BrowserPool, site: HostileSite) -> None:
        self._pool = pool
        self._env = BrowserEnvironment(pool, site)
        self._usual = 0
        self._folders = 1

    async def warm_up(self) -> None:
        for _ in range(2):
            await self._episode()
        await self._at_rest()
        self._usual = len(self._family())
        # with those of other browsers of this process, which are none of ours to judge
        self._folders = len(held_by(os.getpid()))

    def _family(self) -> list[psutil.Process]:
        return self._pool.running.members() if self._pool.running is not None else []

    async def meet(self, case: FaultCase) -> FaultRow:
        deadline = self._pool.config.deadline_sec
        came, said, seconds, before = await self._fault(case)
        begun = time.perf_counter()
        try:
            await self._episode()
            next_ok = True
        except (BrowserError, MissingDependencyError) as error:
            next_ok, said = False, f"{said}; next: {error}"
        next_sec = time.perf_counter() - begun
        left = await self._left(before)
        return FaultRow(
            fault=case.name,
            what=case.what,
            expected=case.expected,
            came=came,
            said=said,
            seconds=seconds,
            over_sec=max(0.0, seconds - deadline),
            next_ok=next_ok,
            next_sec=next_sec,
            left_processes=left,
            left_folders=max(0, len(held_by(os.getpid())) - self._folders),
        )

    async def _fault(self, case: FaultCase) -> tuple[str, str, float, list[psutil.Process]]:
        begun, before = time.perf_counter(), self._family()
        try:
            if case.at_reset:
                page = await self._env.reset(case.page or case.name, 0)
            else:
                button = _button(await self._env.reset(case.page or case.name, 0))
                begun, before = time.perf_counter(), self._family()
                async with self._injected(case):
                    page = (await self._env.step(Click(button))).observation
            if case.shown not in page.tree:
                return (
                    "bug",
                    f"{case.shown!r} is not on the page",
                    time.perf_counter() - begun,
                    before,
                )
            return "page", page.title, time.perf_counter() - begun, before
        except BrowserError as error:
            return "error", str(error), time.perf_counter() - begun, before
        except Exception as error:  # noqa: BLE001  # what is not named is what this is looking for
            return "bug", repr(error), time.perf_counter() - begun, before

    @asynccontextmanager
    async def _injected(self, case: FaultCase) -> AsyncIterator[None]:
        if case.inject is None:
            yield
            return
        live, inject = self._env.active, case.inject

        async def later() -> None:
            await asyncio.sleep(INJECT_AFTER_SEC)
            await inject(self._pool, live)

        task = asyncio.create_task(later())
        try:
            yield
        finally:
            await task

    async def _episode(self) -> None:
        """An episode without a fault: its page must do what the button says."""
        page = await self._env.reset("fine", 0)
        page = (await self._env.step(Click(_button(page)))).observation
        if "done" not in page.tree:
            raise BrowserError(f"the page did not do its work: {page.tree[:200]!r}")

    async def _at_rest(self) -> None:
        await self._env.close()
        await self._pool.settled()

    async def _left(self, before: Sequence[psutil.Process]) -> int:
        await self._at_rest()
        ended = time.monotonic() + PATIENCE_SEC
        while True:
            now = self._family()
            strays = [p for p in before if p not in now and lives(p)]
            left = len(strays) + max(0, len(now) - self._usual)
            if not left or time.monotonic() > ended:
                return left
            await asyncio.sleep(0.1)


def _seen(case: FaultCase, page: Observation) -> tuple[str, str]:
    """Whether the observation is whole."""
    if case.shown not in page.tree:
        return "bug", f"{case.shown!r} is not on the page"
    number = page.url.rpartition("?")[2]
    if case.number and not (page.title == f"number {number}" and f"{page.title}'" in page.tree):
        return "bug", f"address {page.url!r}, title {page.title!r} and text are of several pages"
    return "page", page.title


@asynccontextmanager
async def _bench(config: BrowserConfig) -> AsyncIterator[_Bench]:
    server = HostileServer()
    pool = BrowserPool(config)
    try:
        await pool.start()
        bench = _Bench(pool, HostileSite(server.origin))
        await bench.warm_up()
        yield bench
    finally:
        await pool.close()
        server.close()


def _button(page: Observation) -> str:
    for node in read_tree(page.tree):
        if node.name == "Go" and node.bid is not None:
            return node.bid
    raise BrowserError(f"the page of faults has no button: {page.tree[:200]!r}")
