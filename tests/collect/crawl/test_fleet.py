"""Workers elsewhere, without a cluster: the same worker in a thread, its browser real; and what becomes of workers that are lost."""

import asyncio
import json
import re
import threading
from collections import Counter
from contextlib import asynccontextmanager

import pytest

from dynaweb import __version__
from dynaweb.bench.madesite import MadeSite
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.crawl.manners import Turns
from dynaweb.collect.crawl import fleet as fleets
from dynaweb.collect.crawl.config import CrawlConfig, Source
from dynaweb.collect.crawl.fleet import Fleet, FleetVisitor, PostLostError
from dynaweb.collect.crawl.log import read_events
from dynaweb.collect.crawl.outpost import Outpost, Standing, posting_of
from dynaweb.contracts import ChatReply
from dynaweb.errors import MissingDependencyError, UserError
from dynaweb.recipes.crawl import CrawlWish, make_tabs, run_crawl
from dynaweb.recipes.crawlsift import SiftRules
from dynaweb.runs.progress import silent


class ThreadPost:
    """An `Outpost` in this process; after `lives` calls it is as lost as one on a machine that burnt down."""

    def __init__(self, posting, lives):
        self._outpost, self._lives = Outpost(posting), lives
        self._busy = threading.Lock()
        self.killed = False

    def _do(self, method, *given):
        with self._busy:
            return method(*given)

    async def _call(self, method, *given):
        self._lives -= 1
        if self._lives < 0:
            raise PostLostError("it burnt down")
        return await asyncio.to_thread(self._do, method, *given)

    async def open(self):
        return await asyncio.to_thread(self._do, self._outpost.open)

    async def begin(self, job, deeds):
        return await self._call(self._outpost.begin, job, deeds)

    async def go_on(self, answer, deeds):
        return await self._call(self._outpost.go_on, answer, deeds)

    async def close(self):
        await asyncio.to_thread(self.kill)

    def kill(self):
        if not self.killed:
            self.killed = True
            self._do(
                self._outpost.close
            )  # a thread, unlike a process, cannot be ended where it stands


def crawl(site, out, lives=(), *, paths=("/",), model=None, make=None, **config):
    """Four visits by two workers; the first of them live for so many calls."""
    left, made = list(lives), []

    def make_fleet(manners, browser, pauses, vouch):
        def post():
            posting = posting_of(manners, browser, pauses, scored=vouch is not None)
            made.append(ThreadPost(posting, left.pop(0) if left else 10**6))
            return made[-1]

        @asynccontextmanager
        async def visitors(workers):
            fleet, turns = Fleet(post, workers), Turns(pauses)
            try:
                await fleet.open()
                yield [FleetVisitor(fleet, turns, vouch, manners) for _ in range(workers)]
            finally:
                await fleet.close()

        return visitors

    settings = {"visits": 4, "workers": 2, "min_steps": 3, "max_steps": 3, **config}
    wish = CrawlWish(
        out=out,
        config=CrawlConfig(
            starts=tuple(site.origin + path for path in paths), sources=(Source(origin=site.origin),), **settings
        ),
        rules=SiftRules(),
        browser=BrowserConfig(width_px=800, height_px=600, prefetch=1),
    )  # fmt: skip
    acknowledged = []
    card = run_crawl(
        wish, silent, model=model, make_visitors=make or make_fleet,
        acknowledge=lambda event: acknowledged.append((event.visit, event.n)),
    )  # fmt: skip
    written = Counter((e.visit, -1 if e.end is not None else e.n) for e in read_events(out))
    assert set(written.values()) == {1}, "nothing stands there twice"
    assert set(acknowledged) <= set(written), "nothing that was acknowledged is lost"
    assert all(post.killed for post in made)
    return card, list(read_events(out)), made


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_a_crawl_by_workers_elsewhere_one_of_which_is_lost(tmp_path):
    with MadeSite() as site:
        card, events, made = crawl(site, tmp_path / "c", (3,), paths=("/contact", "/"))
        assert not [p for p in site.paths if p.startswith("/private")], "robots.txt forbids it"
        assert {method for _, method, _ in site.requests} == {"GET"}, "nothing was made writable"
        assert card.addresses["done"] == 4 and len(made) == 3
        assert card.seen_steps == sum(card.steps.values()) > 4
        assert card.addresses["dropped: robots.txt"] == 1, "links come with the pages"
        assert [e.detail for e in events].count("the worker was lost") == 1
        assert not [a for a in card.addresses if "does not open" in a], "nobody blames the address"
        before = (tmp_path / "c/steps-00001.jsonl").read_bytes()
        more, _, _ = crawl(site, tmp_path / "c", paths=("/contact", "/"), visits=5, make=make_tabs)
        assert more.addresses["done"] == 5, "the same folder goes on in this process"
        assert (tmp_path / "c/steps-00001.jsonl").read_bytes().startswith(before)


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_pauses_hold_across_workers(tmp_path):
    with MadeSite(crawl_delay_sec=0.4) as site:
        starts = ("/list?page=1", "/settings", "/list?page=2", "/")
        crawl(site, tmp_path / "c", visits=len(starts), paths=starts)
        times = [at for at, _, path in site.requests if path != "/robots.txt"]
    assert len(times) >= len(starts), "each visit opens its address, whatever it clicks on there"
    assert times[-1] - times[0] >= 0.4 * (len(times) - 1) * 0.9


class Scorer:
    """Likes lists and nothing else."""

    version = "scorer"

    def chat(self, requests):
        return [self._reply(r.messages[-1].content) for r in requests]

    def _reply(self, text):
        score = 9 if "/list" in re.search(r"http://\S+", text)[0] else 2
        names = ("accessibility", "content", "interactivity", "engineering")
        return ChatReply(text=json.dumps({**dict.fromkeys(names, score), "safe": True}), finish="stop", model="scorer")  # fmt: skip


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_the_model_is_asked_by_the_owner(tmp_path):
    with MadeSite() as site:
        card, _, _ = crawl(
            site, tmp_path / "c", paths=("/list?page=1", "/many"), min_score=5.0, max_depth=0, workers=1, model=Scorer()
        )  # fmt: skip
    assert card.addresses["done"] == 1 and card.addresses["dropped: score: below 5"] == 1


class Idle:
    """A worker that stands, or does not, and is never lent."""

    def __init__(self, standing):
        self._standing, self.killed = standing, False

    async def open(self):
        if self._standing is None:
            raise PostLostError("no dynaweb there")
        return self._standing

    async def close(self):
        pass

    def kill(self):
        self.killed = True


@pytest.mark.parametrize(
    ("standing", "machine", "error", "said"),
    [
        (Standing(machine="n1", version="0.0.1"), "", MissingDependencyError, "has dynaweb 0.0.1"),
        (Standing(machine="n1", version=__version__, problem="no browser"), "", MissingDependencyError, "'n1' cannot work: no browser"),
        (Standing(machine="n1", version=__version__), "here", UserError, "--executor local"),
        (None, "", MissingDependencyError, "the last one was lost: no dynaweb there"),
    ],
)  # fmt: skip
async def test_workers_that_cannot_work(standing, machine, error, said, monkeypatch):
    monkeypatch.setattr(fleets, "PLACE_SEC", 0.2)
    made = []

    def make():
        made.append(Idle(standing))
        return made[-1]

    fleet = Fleet(make, 2, machine=machine)
    with pytest.raises(error, match=said) as raised:
        await fleet.open()
    assert "\n" not in str(raised.value)
    await fleet.close()
    assert all(post.killed for post in made)


async def test_what_one_did_is_told_to_the_others():
    fleet = Fleet(lambda: Idle(Standing(machine="n", version=__version__)), 2)
    await fleet.open()
    while len(fleet._free) < 2:
        await asyncio.sleep(0.01)
    one, other = fleet.lend(), fleet.lend()
    assert not fleet.able()
    fleet.spread(one, [("http://a/", "click", "link 'x'")])
    assert fleet.news(one) == [] and fleet.news(other) == [("http://a/", "click", "link 'x'")]
    assert fleet.news(other) == []
    fleet.give_back(one)
    fleet.drop(other)
    assert fleet.able() and other.killed
    await fleet.close()
