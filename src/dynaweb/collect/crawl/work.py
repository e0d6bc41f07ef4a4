"""The crawl itself: workers take addresses from the frontier, visit them, and put what they saw into the log.

Order of writing, so that a kill at any time loses no acknowledged step and repeats none: addresses that a page links to, then
the page (acknowledged when the log has it), the end of the visit, the visit's state. What is missing of that is put right by
`recover` when the same command runs again.
"""

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from dynaweb.collect.crawl.addresses import normalised, pattern_of, refusal_of
from dynaweb.collect.crawl.config import CrawlConfig
from dynaweb.collect.crawl.frontier import Frontier, Visit
from dynaweb.collect.crawl.log import CrawlLog, Event, read_events
from dynaweb.collect.crawl.visit import Job, Saw
from dynaweb.errors import DynawebError
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Reason
from dynaweb.runs.progress import Progress, silent

log = logging.getLogger(__name__)

IDLE_SEC = 0.05
"""Between two looks at an empty frontier while other workers may still find addresses."""
KILLED_TRIES = 20
"""Visits to an address that were killed before anything was seen; then it may be what kills us."""
_STATUS = re.compile(r"the server says (\d+)")


Links = list[tuple[str, bool]]
"""Addresses on a page, each with whether it asks not to be followed."""


class Visitor(Protocol):
    """Something that makes visits: a worker's tab in this process, or in another."""

    def able(self) -> bool:
        """Whether it can make a visit now; one that cannot is asked again.

        Raises:
            DynawebError: it never will.
        """
        ...

    async def visit(self, job: Job, saw: Saw, linked: Callable[[Links], None]) -> Event:
        """Make a visit.

        Args:
            job: where, and with which choices.
            saw: told of each page; it must have returned before the next action is done.
            linked: told of the addresses on the pages, each with whether it asks not to be followed.

        Returns:
            The end of the visit; its detail is what went wrong.
        """
        ...


Visitors = Callable[[int], AbstractAsyncContextManager[list[Visitor]]]
"""Number of workers -> those who visit, for as long as the block runs."""


@dataclass(slots=True, kw_only=True)
class Crawl:
    """One session of a crawl."""

    config: CrawlConfig
    frontier: Frontier
    log: CrawlLog
    visitors: Visitors
    allowed: Callable[[str], bool]
    """What robots.txt says of an address."""
    mask: Callable[[Event], Event]
    """Takes personal details out before anything is written."""
    acknowledge: Callable[[Event], None]
    """Told of each step that is written."""
    progress: Progress = silent
    active: int = 0
    steps: int = 0
    """Of this session."""
    _begun: float = field(default_factory=time.monotonic)
    _session: int = 0

    def has_work(self) -> bool:
        """Whether `run` would visit anything; notes the starts."""
        self.note(self.config.starts, 0)
        return not self._enough() and self.frontier.waits()

    async def run(self) -> None:
        """Visit until there is no address left or the limits are reached; `has_work` has been asked.

        Raises:
            DynawebError: the first that ends a worker: no browser, no space on the disk, no model.
        """
        self._session = self.frontier.begin_session()
        async with self.visitors(self.config.workers) as visitors:
            self._begun = time.monotonic()
            try:
                async with asyncio.TaskGroup() as group:
                    for visitor in visitors:
                        group.create_task(self._work(visitor))
            except* DynawebError as errors:
                raise errors.exceptions[0] from None
        self._tell()

    def note(self, urls: Iterable[str], depth: int, refusal: str = "") -> None:
        """Put addresses into the frontier, with why some of them are not visited."""
        plain = dict.fromkeys(n for url in urls if (n := normalised(url)) is not None)
        c = self.config
        self.frontier.add(
            (
                (u, pattern_of(u), refusal_of(u, c.origins, c.banned, self.allowed) or refusal)
                for u in plain
            ),
            depth,
        )

    async def _work(self, visitor: Visitor) -> None:
        async for visit in self._visits(visitor):
            try:
                await self._visit(visitor, visit)
            finally:
                self.active -= 1
            self._tell()

    async def _visits(self, visitor: Visitor) -> AsyncIterator[Visit]:
        while not self._enough():
            visit = self.frontier.take(self.log.shard) if visitor.able() else None
            if visit is not None:
                self.active += 1
                yield visit
            elif self.active or self.frontier.waits():
                await asyncio.sleep(IDLE_SEC)
            else:
                return

    def _enough(self) -> bool:
        visits, steps = self.frontier.totals()
        most = self.config.steps
        return visits + self.active >= self.config.visits or (most > 0 and steps >= most)

    async def _visit(self, visitor: Visitor, visit: Visit) -> None:
        c = self.config
        job = Job(
            number=visit.visit_id, url=visit.url, seed=derive_seed(c.seed, visit.url, visit.nth),
            min_steps=c.min_steps, max_steps=c.max_steps, scored=visit.depth == 0 and c.min_score > 0,
        )  # fmt: skip

        async def saw(event: Event) -> None:
            self.log.append(self.mask(event))
            if event.n > 0:
                self.steps += 1
                self.acknowledge(event)

        def linked(found: Links) -> None:
            self.note((u for u, no in found if not no), visit.depth + 1)
            self.note((u for u, no in found if no), visit.depth + 1, "rel=nofollow")

        end = await visitor.visit(job, saw, linked)
        self.log.append(self.mask(end))
        settle(self.frontier, visit, end, c)

    def _tell(self) -> None:
        visits, steps = self.frontier.totals()
        self.frontier.clock(self._session, self.steps, time.monotonic() - self._begun)
        self.progress(
            "crawl", min(visits, self.config.visits), self.config.visits, f"{steps} steps"
        )


def settle(frontier: Frontier, visit: Visit, end: Event, config: CrawlConfig) -> None:
    """Note how a visit ended: with steps it is done, without it is tried again or its address dropped."""
    if end.n > 0:
        frontier.done(visit, steps=end.n, again=config.again)
    elif end.end is Reason.RECORDING_STOPPED:
        frontier.failed(visit, "killed", tries=KILLED_TRIES, state="killed")
    else:
        refused = end.detail.startswith("score: ")
        frontier.failed(visit, _why(end.detail), tries=1 if refused else config.tries)


def _why(detail: str) -> str:
    """A reason without the address in it, to be counted."""
    if detail.startswith("score: "):
        return detail
    if status := _STATUS.search(detail):
        return f"unreachable: status {status[1]}"
    if "Download is starting" in detail:
        return "a download"
    if "ERR_ABORTED" in detail:
        return "unreachable: leads where the crawl may not go"
    return "unreachable: does not open"


def recover(folder: Path, frontier: Frontier, log_: CrawlLog, config: CrawlConfig) -> int:
    """Put right what a killed session left half done; how many visits that were.

    Raises:
        StorageError: the log or the frontier is damaged.
    """
    left = frontier.left_open()
    if not left:
        return 0
    by_number = {visit.visit_id: visit for visit, _ in left}
    seen = dict.fromkeys(by_number, 0)
    ends: dict[int, Event] = {}
    for event in read_events(folder, min(shard for _, shard in left)):
        if event.visit not in seen:
            continue
        if event.end is not None:
            ends[event.visit] = event
        else:
            seen[event.visit] = max(seen[event.visit], event.n)
    for number, visit in by_number.items():
        end = ends.get(number)
        if end is None:
            end = Event(
                visit=number, n=seen[number], end=Reason.RECORDING_STOPPED, detail="the crawl was killed"
            )  # fmt: skip
            log_.append(end)
        settle(frontier, visit, end, config)
    log.info("%d visits were cut short", len(left))
    return len(left)
