"""A worker away from the crawl's owner: a browser, one visit at a time, and calls that answer with what the visit needs next.

The owner keeps addresses, log, turns at the sites and the model that scores. A visit goes on until it needs one of these; the call returns
that need, and the next call brings the answer. So no action is done before the page that it is done on is written down, whichever
of the two processes or machines dies.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from dynaweb import __version__
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.crawl.manners import Manners
from dynaweb.browser.crawl.robots import make_robots
from dynaweb.browser.egress.proxy import Outlet, open_outlet
from dynaweb.browser.egress.way import WayOut
from dynaweb.browser.sites.home import SiteHome
from dynaweb.collect.crawl.choose import Deed, Memory
from dynaweb.collect.crawl.local import tab_visitors
from dynaweb.collect.crawl.log import Event, dump_event
from dynaweb.collect.crawl.visit import Job
from dynaweb.collect.crawl.work import Links, Visitor
from dynaweb.errors import DynawebError
from dynaweb.lm.loopthread import LoopThread
from dynaweb.records.observation import Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """What a worker is to keep to, as plain data."""

    origins: tuple[str, ...]
    agent: str
    """Our name in robots.txt."""
    robots: Mapping[str, str]
    """Origin -> robots.txt."""
    obeyed: bool
    writable: tuple[str, ...]
    hosts: Mapping[str, str]
    header: str
    browser: BrowserConfig
    paced: frozenset[str]
    """Origins where there is a pause between two actions: turns are asked for."""
    scored: bool
    """The owner has a model that scores places to begin with."""
    way: WayOut | None = None
    """Through the owner's proxy; a worker on another machine has one like it."""
    machine: str = ""
    """Host name of the owner's."""


def posting_of(
    manners: Manners, browser: BrowserConfig, pauses: Mapping[str, float], *, scored: bool
) -> Posting:
    """The same rules, to be sent elsewhere."""
    return Posting(
        origins=manners.origins, agent=manners.robots.agent, robots=dict(manners.robots.texts), obeyed=manners.robots.obeyed,
        writable=manners.writable, hosts=dict(manners.hosts), header=manners.header, browser=browser, scored=scored, way=manners.way,
        machine=socket.gethostname(),
        paced=frozenset(origin for origin, pause in pauses.items() if pause > 0.0),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a worker is, once its browser runs."""

    machine: str
    """Host name."""
    version: str
    """Of dynaweb there."""
    problem: str = ""
    """Why no browser runs."""


class Need(StrEnum):
    """Why a call returns."""

    PAGE = "page"
    """A page was seen: to be written down before the next action."""
    TURN = "turn"
    """A site is to be asked: the turn there is to be waited for."""
    SCORE = "score"
    """A place to begin with is to be scored; the answer is the refusal, or nothing."""
    END = "end"
    """None any more: the visit is over."""
    FAULT = "fault"
    """The worker cannot work any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a call returns."""

    need: Need
    text: str = ""
    """The event as a JSON line (page, score, end), the origin (turn), or what is wrong (fault)."""
    seed: int = 0
    """Of the scoring."""
    links: Links = field(default_factory=list)
    """Addresses found since the last call; to be noted before the page."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """Requests that were not made since the last call, by reason."""
    refused_at: Mapping[str, int] = field(default_factory=dict)
    """The same by host."""
    refused_by_proxy: Mapping[str, int] = field(default_factory=dict)
    """What a proxy of its own refused since the last call."""
    deeds: Sequence[Deed] = ()
    """What was done since the last call."""


class Outpost:
    """Runs where the browser is. Every method blocks; one call at a time."""

    def __init__(self, posting: Posting) -> None:
        """Nothing is open yet."""
        robots = make_robots(posting.agent, posting.robots, obeyed=posting.obeyed)
        self._manners = Manners(
            origins=posting.origins, robots=robots, writable=posting.writable, hosts=posting.hosts, header=posting.header,
            way=posting.way,
        )  # fmt: skip
        self._paced = posting.paced
        self._deeds: list[Deed] = []
        self._links: Links = []
        self._memory = Memory(self._deeds)
        self._posting = posting
        self._outlet: Outlet | None = None
        self._refused: Counter[str] = Counter()
        """By the proxy, told already."""
        self._loop = LoopThread("dynaweb-outpost")
        self._stack = AsyncExitStack()
        self._said: asyncio.Queue[Told] = asyncio.Queue()
        self._heard: asyncio.Queue[str] = asyncio.Queue()
        self._visitor: Visitor | None = None
        self._going: asyncio.Task[Told] | None = None

    def open(self) -> Standing:
        """Start the browser."""
        return self._loop.run(self._open())

    def begin(self, job: Job, deeds: Sequence[Deed]) -> Told:
        """Begin a visit.

        Args:
            job: where, and with which choices.
            deeds: what other workers did since the last call.
        """
        return self._loop.run(self._begin(job, deeds))

    def go_on(self, answer: str, deeds: Sequence[Deed]) -> Told:
        """Go on with the visit: what it needed is done.

        Args:
            answer: to what it asked, if it asked something.
            deeds: as in `begin`.
        """
        return self._loop.run(self._go_on(answer, deeds))

    def close(self) -> None:
        """End the visit under way, if there is one, and the browser."""
        self._loop.run(self._end())
        self._loop.close()

    async def _open(self) -> Standing:
        problem = ""
        try:
            await self._find_way()
            score = self._score if self._posting.scored else None
            make = tab_visitors(
                self._manners, self._posting.browser, self._turn, score, self._memory
            )
            (self._visitor,) = await self._stack.enter_async_context(make(1))
        except DynawebError as error:
            problem = str(error)
        return Standing(machine=socket.gethostname(), version=__version__, problem=problem)

    async def _find_way(self) -> None:
        """The owner's proxy listens on its own machine alone."""
        way = self._posting.way
        if way is None or self._posting.machine == socket.gethostname():
            return
        opened = open_outlet(way.rules, SiteHome(Path(way.home)))
        self._outlet = await self._stack.enter_async_context(opened)
        self._manners = replace(self._manners, way=self._outlet.way)

    async def _begin(self, job: Job, deeds: Sequence[Deed]) -> Told:
        self._memory.learn(deeds)
        self._going = asyncio.create_task(self._visit(job))
        return await self._next(self._going)

    async def _go_on(self, answer: str, deeds: Sequence[Deed]) -> Told:
        assert self._going is not None
        self._memory.learn(deeds)
        self._heard.put_nowait(answer)
        return await self._next(self._going)

    async def _next(self, going: "asyncio.Task[Told]") -> Told:
        """What the visit says next: a need, or how it ended."""
        saying = asyncio.create_task(self._said.get())
        await asyncio.wait({saying, going}, return_when=asyncio.FIRST_COMPLETED)
        if saying.done():
            return saying.result()
        saying.cancel()
        return going.result()

    async def _end(self) -> None:
        if self._going is not None:
            self._going.cancel()
            await asyncio.wait({self._going})
        await self._stack.aclose()

    async def _visit(self, job: Job) -> Told:
        assert self._visitor is not None

        async def saw(event: Event) -> None:
            await self._ask(Need.PAGE, dump_event(event))

        try:
            end = await self._visitor.visit(job, saw, self._links.extend)
        except DynawebError as error:
            return self._tell(Need.FAULT, str(error))
        return self._tell(Need.END, dump_event(end))

    async def _turn(self, origin: str) -> None:
        if origin in self._paced:
            await self._ask(Need.TURN, origin)

    async def _score(self, page: Observation, seed: int) -> str:
        return await self._ask(Need.SCORE, dump_event(Event(visit=0, n=0, page=page)), seed)

    async def _ask(self, need: Need, text: str, seed: int = 0) -> str:
        self._said.put_nowait(self._tell(need, text, seed))
        return await self._heard.get()

    def _tell(self, need: Need, text: str, seed: int = 0) -> Told:
        refused = Counter(self._outlet.refusals() if self._outlet is not None else {})
        fresh, self._refused = refused - self._refused, refused
        told = Told(
            need=need, text=text, seed=seed, links=list(self._links), refused=dict(self._manners.refused),
            refused_at=dict(self._manners.refused_at), refused_by_proxy=fresh, deeds=tuple(self._deeds),
        )  # fmt: skip
        self._links.clear()
        self._manners.refused.clear()
        self._manners.refused_at.clear()
        self._deeds.clear()
        return told
