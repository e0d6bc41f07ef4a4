"""Visitors in this process: tabs of one browser."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.crawl.manners import Manners, origin_of
from dynaweb.browser.crawl.site import CrawlSite, crawl_world
from dynaweb.collect.crawl.choose import Memory
from dynaweb.collect.crawl.log import Event
from dynaweb.collect.crawl.visit import Job, Saw, make_visit
from dynaweb.collect.crawl.work import Links, Visitor, Visitors
from dynaweb.contracts import Environment
from dynaweb.errors import BrowserError
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Reason

Vouch = Callable[[Observation, int], Awaitable[str]]
"""Page and seed -> why it is no place to begin; empty when it is."""
Turn = Callable[[str], Awaitable[None]]
"""Waits until the site of this origin may be asked again."""


class TabVisitor:
    """Makes visits in one environment; satisfies `work.Visitor`."""

    def __init__(
        self, env: Environment, site: CrawlSite, memory: Memory, turn: Turn, vouch: Vouch | None
    ) -> None:  # fmt: skip
        """Nothing is open yet."""
        self._env, self._site, self._memory = env, site, memory
        self._turn_at, self._vouch = turn, vouch

    def able(self) -> bool:
        """Always."""
        return True

    async def visit(self, job: Job, saw: Saw, linked: Callable[[Links], None]) -> Event:
        """See `work.Visitor`."""
        if job.scored and self._vouch is not None:
            refusal = await self._refusal(job, self._vouch)
            if refusal:
                return Event(visit=job.number, n=0, end=Reason.BROWSER_FAULT, detail=refusal)

        async def told(event: Event) -> None:
            linked(self._site.take_links())
            await saw(event)

        return await make_visit(self._env, job, self._memory, told, self._turn)

    async def _turn(self, url: str) -> None:
        await self._turn_at(origin_of(url))

    async def _refusal(self, job: Job, vouch: Vouch) -> str:
        await self._turn(job.url)
        try:
            page = await self._env.reset(job.url, 0)
        except BrowserError as error:
            return str(error)
        return await vouch(page, job.seed)

    async def close(self) -> None:
        """Leave the page."""
        await self._env.close()


def tab_visitors(
    manners: Manners,
    browser: BrowserConfig,
    turn: Turn,
    vouch: Vouch | None,
    memory: Memory | None = None,
) -> Visitors:
    """Workers that share a browser, a memory of what was done, and the turns at each site."""
    shared = memory or Memory()

    @asynccontextmanager
    async def visitors(workers: int) -> AsyncIterator[list[Visitor]]:
        async with crawl_world(manners, browser) as make:
            made = [TabVisitor(*make(), shared, turn, vouch) for _ in range(workers)]
            try:
                yield list(made)
            finally:
                for visitor in made:
                    await visitor.close()

    opened: Callable[[int], AbstractAsyncContextManager[list[Visitor]]] = visitors
    return opened
