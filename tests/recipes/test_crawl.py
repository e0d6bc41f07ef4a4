"""A crawl of a made-up site in a real browser: what it asks for, what it keeps, that it goes on, and that kills lose nothing."""

import json
import re
from collections import Counter

import pytest

from dynaweb.bench.madesite import MadeSite
from dynaweb.browser.config import BrowserConfig
from dynaweb.cli.main import main
from dynaweb.collect.crawl.config import CrawlConfig, Source
from dynaweb.collect.crawl.log import read_events
from dynaweb.collect.run import read_trajectories
from dynaweb.contracts import ChatReply
from dynaweb.recipes.crawl import CrawlWish, run_crawl
from dynaweb.recipes.crawlkills import count_kills, kill_crawls
from dynaweb.recipes.crawlsift import SiftRules
from dynaweb.runs.folder import RunFolder
from dynaweb.runs.progress import silent

pytestmark = pytest.mark.browser


def wish(site, out, *, paths=("/",), writable=True, near=0.9, **config):
    settings = {"visits": 6, "workers": 2, "min_steps": 3, "max_steps": 4, **config}
    starts = tuple(site.origin + path for path in paths)
    return CrawlWish(
        out=out,
        config=CrawlConfig(starts=starts, sources=(Source(origin=site.origin, license="MIT"),), **settings),
        rules=SiftRules(near=near),
        browser=BrowserConfig(width_px=800, height_px=600),
        writable=(site.origin,) if writable else (),
    )  # fmt: skip


@pytest.fixture
def site():
    with MadeSite() as made:
        yield made


TRAPS = ("/", "/many", "/calendar/2025/6", "/contact", "/settings", "/account")


def test_a_crawl_of_traps(site, tmp_path):
    asked = wish(site, tmp_path / "c", paths=TRAPS, visits=10, workers=3)
    card = run_crawl(asked, silent)
    assert not [p for p in site.paths if p.startswith("/private")], "robots.txt forbids it"
    assert site.paths.count("/robots.txt") == 1
    # a click may lead there; nobody goes there because an address was found
    assert f"{site.origin}/trap" not in {e.url for e in read_events(tmp_path / "c")}
    assert card.addresses["dropped: rel=nofollow"] == 1
    assert card.seen_steps == sum(card.steps.values()) and card.transitions > 10
    assert card.visits == card.trajectories + sum(card.dropped_visits.values())
    assert card.addresses["dropped: too many alike"] >= 480, "500 leaves and a calendar"
    assert card.addresses["dropped: robots.txt"] == card.addresses["dropped: a file"] == 1
    assert card.addresses["done"] == 10
    trajectories = read_trajectories(tmp_path / "c/trajectories.jsonl")
    assert sum(len(t.transitions()) for t in trajectories) == card.transitions
    assert all(1 <= len(t.steps) <= 4 and t.license == "MIT" for t in trajectories)
    pages = [s.observation for t in trajectories for s in t.steps]
    assert all(p.url.startswith((site.origin, "about:blank")) for p in pages)
    text = (tmp_path / "c/steps-00001.jsonl").read_text()
    assert "@shop.example.net" not in text, "personal details are masked before they are written"
    assert json.loads((tmp_path / "c/card.json").read_text())["transitions"] == card.transitions
    assert (tmp_path / "c/card.md").read_text().startswith("# A random crawl")

    again = run_crawl(asked, silent)
    assert again.seen_steps == card.seen_steps and again.steps == card.steps, (
        "nothing is left to do"
    )
    assert site.paths.count("/robots.txt") == 1


def test_more_visits_go_on(site, tmp_path):
    first = run_crawl(wish(site, tmp_path / "c", visits=2), silent)
    before = (tmp_path / "c/steps-00001.jsonl").read_bytes()
    second = run_crawl(wish(site, tmp_path / "c", visits=4, workers=1), silent)
    assert first.addresses["done"] == 2 and second.addresses["done"] == 4
    assert (tmp_path / "c/steps-00001.jsonl").read_bytes().startswith(before)
    events = Counter((e.visit, e.n, e.end) for e in read_events(tmp_path / "c"))
    assert set(events.values()) == {1}


def test_a_site_that_is_only_read(site, tmp_path):
    paths = ("/contact", "/login", *(f"/thing/{i}" for i in range(1, 7)))
    asked = wish(site, tmp_path / "c", paths=paths, visits=8, writable=False, max_depth=0)
    card = run_crawl(asked, silent)
    assert {method for _, method, _ in site.requests} == {"GET"}
    assert card.refused_requests["read-only"] > 0, "forms were pressed, and not sent"


def test_crawl_delay_is_kept(tmp_path):
    with MadeSite(crawl_delay_sec=0.4) as site:
        run_crawl(wish(site, tmp_path / "c", paths=("/list?page=1",), visits=2, workers=2), silent)
        times = [at for at, _, path in site.requests if path != "/robots.txt"]
        assert len(times) > 3
        # a page may be slow to answer; what counts is that requests do not come faster over the whole crawl
        assert times[-1] - times[0] >= 0.4 * (len(times) - 1) * 0.9
    with MadeSite(crawl_delay_sec=90) as site:
        card = run_crawl(wish(site, tmp_path / "slow"), silent)
        assert card.addresses == {"dropped: robots.txt": 1} and site.paths == ["/robots.txt"]


class Scorer:
    """A model that likes lists and nothing else; counts what it was asked."""

    version = "scorer"

    def __init__(self):
        self.asked = []

    def chat(self, requests):
        self.asked += requests
        return [self._reply(r.messages[-1].content) for r in requests]

    def _reply(self, text):
        score = 9 if "/list" in re.search(r"http://\S+", text)[0] else 2
        names = ("accessibility", "content", "interactivity", "engineering")
        said = json.dumps({**dict.fromkeys(names, score), "safe": True})
        return ChatReply(text=said, finish="stop", model="scorer")


def test_a_model_may_drop_places_to_begin_with(site, tmp_path):
    model = Scorer()
    asked = wish(site, tmp_path / "c", paths=("/list?page=1", "/many"), min_score=5.0, max_depth=0)
    card = run_crawl(asked, silent, model=model)
    assert len(model.asked) == 2
    assert card.addresses["done"] == 1 and card.addresses["dropped: score: below 5"] == 1
    assert {e.url for e in read_events(tmp_path / "c") if e.url} == {f"{site.origin}/list?page=1"}


def test_the_command(site, tmp_path, capsys):
    out = tmp_path / "c"
    said = ["crawl", f"{site.origin}/", "--out", str(out), "--visits", "2", "--quiet"]
    assert main([*said, "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["addresses"]["done"] == 2 and card["steps_per_sec"] > 0
    with RunFolder(tmp_path / "held", config=None, seed=0):
        assert main(["crawl", f"{site.origin}/", "--out", str(tmp_path / "held"), "--quiet"]) == 2
    assert "another process" in capsys.readouterr().err
    assert main([*said, "--max-depth", "1"]) == 2
    assert "max_depth was 8, now 1" in capsys.readouterr().err


def test_kills_lose_nothing(tmp_path):
    found = kill_crawls(tmp_path / "k", times=2, workers=2, seed=3, progress=silent)
    assert found.kills == 2 and found.acknowledged > 0
    assert found.sound and found.lost == found.duplicates == found.repeated_ids == 0
    # the count can fail: a step that was said to be there and is not, one that stands there twice
    log = tmp_path / "k/crawl/steps-00001.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    with (tmp_path / "k/acks/00000.txt").open("a") as acks:
        acks.write("999999 1\n")
    log.write_bytes(b"".join([*lines, lines[0]]))
    worse = count_kills(tmp_path / "k", 0.0)
    assert (worse.kills, worse.lost, worse.duplicates, worse.sound) == (2, 1, 1, False)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "no places"),
        (["mailto:a@b.example"], "no address of a page"),
        (["nowhere"], "neither an address nor a site"),
        (["anna@shop:/"], "begins as a stranger"),
        (["http://a.example/", "--send", "all"], "add --yes"),
        (["http://a.example/", "--send", "some"], "no --send 'some'"),
        (["http://a.example/", "--score-url", "http://b.example"], "go together"),
        (["http://a.example/", "--allow", "http://b.example/x"], "no origin"),
        (["http://a.example/", "--file", "/nowhere/x"], "cannot read"),
        (["http://a.example/", "--min-steps", "9", "--max-steps", "4"], "9 to 4"),
    ],
)
def test_mistakes(words, problem, tmp_path, capsys):
    assert main(["crawl", *words, "--out", str(tmp_path / "c"), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert problem in said and said.count("\n") == 1
