"""The owner's side of workers elsewhere: as many as asked for, replaced when they are lost, each lent for one visit.

Pages are written down here, one at a time: what a worker has seen and this process has not written was never acknowledged. A worker that
is lost ends its visit the way a kill ends one in this process: what was written stays, and an address of which nothing was is visited again.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from dynaweb import __version__
from dynaweb.browser.crawl.manners import Manners, Turns
from dynaweb.collect.crawl.choose import Deed
from dynaweb.collect.crawl.local import Vouch
from dynaweb.collect.crawl.log import Event, load_event
from dynaweb.collect.crawl.outpost import Need, Standing, Told
from dynaweb.collect.crawl.visit import Job, Saw
from dynaweb.collect.crawl.work import Links
from dynaweb.errors import MissingDependencyError, UserError
from dynaweb.records.trajectory import Reason

log = logging.getLogger(__name__)

T = TypeVar("T")

PATIENCE_SEC = 300.0
"""A worker that says nothing for so long is lost; its own deadlines are shorter."""
PLACE_SEC = 300.0
"""Without any worker for so long, a crawl ends."""
AGAIN_SEC = (1.0, 60.0)
"""Before a worker that was lost is replaced: at first, at most."""
CLOSE_SEC = 10.0
POLL_SEC = 0.05


class PostLostError(Exception):
    """The worker, its process or its machine is gone."""


class Post(Protocol):
    """An `outpost.Outpost` somewhere else: the same calls. Each may raise `PostLostError`."""

    async def open(self) -> Standing:
        """See `Outpost`; waits until there is a place for it."""
        ...

    async def begin(self, job: Job, deeds: Sequence[Deed]) -> Told:
        """See `Outpost`."""
        ...

    async def go_on(self, answer: str, deeds: Sequence[Deed]) -> Told:
        """See `Outpost`."""
        ...

    async def close(self) -> None:
        """See `Outpost`."""
        ...

    def kill(self) -> None:
        """End it at once, whatever it does; safe to call twice."""
        ...


class Fleet:
    """The workers of one crawl. `open` it; `close` ends them all."""

    def __init__(self, make: Callable[[], Post], workers: int, *, machine: str = "") -> None:
        """Nothing runs yet.

        Args:
            make: a worker, not yet open.
            workers: how many there are to be.
            machine: host name, when all of them must be on this machine; any otherwise.
        """
        self._make, self._workers, self._machine = make, workers, machine
        self._news: dict[Post, list[Deed]] = {}
        """Every worker that stands, with what the others did since its last call."""
        self._free: list[Post] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._problem: BaseException | None = None
        self._last_loss = ""
        self._alone_since = time.monotonic()

    def able(self) -> bool:
        """Whether a worker is free.

        Raises:
            MissingDependencyError: a worker cannot work there, or there has been none for too long. UserError: it is on another machine, and may not.
        """
        if self._problem is not None:
            raise self._problem
        if not self._news and time.monotonic() - self._alone_since > PLACE_SEC:
            why = (
                f"the last one was lost: {self._last_loss}"
                if self._last_loss
                else "each needs a free CPU"
            )
            raise MissingDependencyError(f"no worker has stood on the cluster for {PLACE_SEC:g} s; {why}")  # fmt: skip
        return bool(self._free)

    async def open(self) -> None:
        """Start the workers, and wait for the first; others join when there is a place for them.

        Raises:
            MissingDependencyError: see `able`. UserError: see `able`.
        """
        self._fill()
        while not self.able():
            await asyncio.sleep(POLL_SEC)

    def lend(self) -> Post:
        """A free worker; `able` has just said that there is one."""
        return self._free.pop(0)

    def give_back(self, post: Post) -> None:
        """Its visit is over."""
        self._free.append(post)

    def drop(self, post: Post) -> None:
        """A worker that was lent is in the middle of something: end it."""
        post.kill()
        self._news.pop(post, None)

    def replace(self, post: Post, why: str) -> None:
        """A worker that was lent is lost: another is started."""
        self.drop(post)
        self._last_loss = why
        self._alone_since = time.monotonic()
        self._fill()

    def news(self, post: Post) -> list[Deed]:
        """What others did since the last call."""
        found = self._news.get(post, [])
        self._news[post] = []
        return found

    def spread(self, post: Post, deeds: Sequence[Deed]) -> None:
        """Tell the others what this one did."""
        for other, news in self._news.items():
            if other is not post:
                news.extend(deeds)

    def _fill(self) -> None:
        while len(self._news) + len(self._starting) < self._workers:
            task = asyncio.create_task(self._start())
            self._starting.add(task)
            task.add_done_callback(self._stands)

    def _stands(self, task: asyncio.Task[None]) -> None:
        self._starting.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            self._problem = problem

    async def _start(self) -> None:
        """One worker, tried until it stands."""
        pause, most = AGAIN_SEC
        while True:
            post = self._make()
            try:
                standing = await post.open()
                self._check(standing)
            except PostLostError as error:
                post.kill()
                self._last_loss = str(error)
                log.warning("a worker did not start: %s", error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, most)
            except BaseException:
                post.kill()
                raise
            else:
                self._news[post] = []
                self._free.append(post)
                return

    def _check(self, standing: Standing) -> None:
        where = f"the worker on {standing.machine!r}"
        if standing.version != __version__:
            raise MissingDependencyError(f"{where} has dynaweb {standing.version}, this machine {__version__}: install the same on both")  # fmt: skip
        if self._machine and standing.machine != self._machine:
            raise UserError(
                f"{where} would look for 127.0.0.1 and localhost on its own machine: name addresses that every node reaches, "
                "or crawl places on this machine with --executor local"
            )
        if standing.problem:
            raise MissingDependencyError(f"{where} cannot work: {standing.problem}")

    async def close(self) -> None:
        """End all workers; those that are idle in peace."""
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(self._dismiss(post) for post in self._free))
        for post in self._news:
            post.kill()
        self._news.clear()

    async def _dismiss(self, post: Post) -> None:
        try:
            async with asyncio.timeout(CLOSE_SEC):
                await post.close()
        except (PostLostError, TimeoutError) as error:
            log.debug("a worker did not close by itself: %s", error)


class FleetVisitor:
    """Makes visits by workers of a fleet; satisfies `work.Visitor`."""

    def __init__(self, fleet: Fleet, turns: Turns, vouch: Vouch | None, manners: Manners) -> None:
        """Nothing is lent yet.

        Args:
            fleet: shared.
            turns: shared: pauses hold across machines.
            vouch: scores places to begin with.
            manners: takes the requests that workers refused.
        """
        self._fleet, self._turns, self._vouch, self._manners = fleet, turns, vouch, manners

    def able(self) -> bool:
        """See `Fleet`."""
        return self._fleet.able()

    async def visit(self, job: Job, saw: Saw, linked: Callable[[Links], None]) -> Event:
        """See `work.Visitor`."""
        post = self._fleet.lend()
        written = 0
        try:
            told = await _patient(post.begin(job, self._fleet.news(post)))
            while True:
                linked(told.links)
                self._manners.refused.update(told.refused)
                self._manners.refused_at.update(told.refused_at)
                self._manners.refused_by_proxy.update(told.refused_by_proxy)
                self._fleet.spread(post, told.deeds)
                if told.need is Need.END:
                    self._fleet.give_back(post)
                    return load_event(told.text, "a worker's message")
                if told.need is Need.PAGE:
                    event = load_event(told.text, "a worker's message")
                    await saw(event)
                    written = event.n
                answer = await self._answer(told)
                told = await _patient(post.go_on(answer, self._fleet.news(post)))
        except PostLostError as error:
            log.warning("a worker was lost, and is replaced: %s", error)
            self._fleet.replace(post, str(error))
            return Event(visit=job.number, n=written, end=Reason.RECORDING_STOPPED, detail="the worker was lost")  # fmt: skip
        except BaseException:
            self._fleet.drop(post)
            raise

    async def _answer(self, told: Told) -> str:
        if told.need is Need.FAULT:
            raise MissingDependencyError(f"a worker cannot go on: {told.text}")
        if told.need is Need.TURN:
            await self._turns.wait(told.text)
        if told.need is Need.SCORE:
            page = load_event(told.text, "a worker's message").page
            assert page is not None and self._vouch is not None
            return await self._vouch(page, told.seed)
        return ""


async def _patient(call: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(PATIENCE_SEC):
            return await call
    except TimeoutError as error:
        raise PostLostError(f"it said nothing for {PATIENCE_SEC:g} s") from error
