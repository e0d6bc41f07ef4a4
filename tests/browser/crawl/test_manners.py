"""What a crawl asks for and what not: robots.txt by RFC 9309, origins, methods, turns."""

import asyncio
import http.server
import itertools
import json
import threading
import time

import pytest

from dynaweb.browser.crawl.asking import ask
from dynaweb.browser.crawl.manners import Manners, Turns, is_loopback, origin_of
from dynaweb.browser.crawl.robots import NOTHING, fetch_robots, learn_robots, make_robots

HERE, THERE = "http://a.example", "http://b.example"


def manners(text="", **more):
    return Manners(origins=(HERE,), robots=make_robots("dynaweb", {HERE: text}), **more)


@pytest.mark.parametrize(
    ("url", "method", "reason"),
    [
        (f"{HERE}/", "GET", ""),
        (f"{HERE}/private/x", "GET", "robots"),
        (f"{HERE}/private", "GET", "robots"),
        (f"{HERE}/public?next=/private", "GET", ""),
        (f"{HERE}/", "POST", "read-only"),
        (f"{HERE}/", "DELETE", "read-only"),
        (f"{THERE}/", "GET", "elsewhere"),
        (f"{HERE}:81/", "GET", "elsewhere"),
        ("https://a.example/", "GET", "elsewhere"),
        (f"{HERE}.evil.example/", "GET", "elsewhere"),
        ("ws://a.example/socket", "GET", ""),
        ("ws://b.example/socket", "GET", "elsewhere"),
        ("ftp://a.example/", "GET", "elsewhere"),
        ("data:text/html,x", "GET", ""),
    ],
)
def test_refusals(url, method, reason):
    assert manners("User-agent: *\nDisallow: /private\n").refusal(url, method) == reason


def test_refusals_are_counted_and_forms_sent_where_allowed():
    own = manners(writable=(HERE,))
    assert not own.refuses(f"{HERE}/", "POST")
    assert own.refuses(f"{THERE}/") and own.refuses(f"{THERE}/x")
    assert own.refused == {"elsewhere": 2}


def test_our_own_name_has_its_own_rules():
    text = "User-agent: dynaweb\nDisallow: /a\nCrawl-delay: 2.5\n\nUser-agent: *\nDisallow: /b\n"
    robots = make_robots("dynaweb", {HERE: text})
    assert not robots.allows(f"{HERE}/a") and robots.allows(f"{HERE}/b")
    assert robots.delay_sec(HERE) == 2.5 and robots.delay_sec(THERE) == 0.0
    assert not robots.allows(f"{THERE}/"), "an origin that was not asked allows nothing"
    assert make_robots("dynaweb", {HERE: text}, obeyed=False).allows(f"{HERE}/a")


@pytest.mark.parametrize(
    ("origin", "here"),
    [
        ("http://localhost:8000", True),
        ("http://shop.localhost", True),
        ("http://127.4.5.6", True),
        ("http://[::1]:80", True),
        ("http://localhost.example.com", False),
        ("http://notlocalhost", False),
        ("http://10.0.0.1", False),
        ("http://127.0.0.1.example.com", False),
    ],
)
def test_what_is_on_this_machine(origin, here):
    assert is_loopback(origin) is here


def test_origin():
    assert origin_of("http://a.example:81/x?y#z") == "http://a.example:81"


@pytest.fixture
def server():
    """Answers `/robots.txt` by what stands in `status` and `location`."""

    told = {"status": 200, "location": "", "asked": 0}

    class Handler(http.server.BaseHTTPRequestHandler):
        said = told

        def do_GET(self):
            self.said["asked"] += 1
            moved = self.path == "/robots.txt" and self.said["location"]
            self.send_response(302 if moved else self.said["status"])
            if moved:
                self.send_header("Location", self.said["location"])
            self.end_headers()
            if not moved:
                self.wfile.write(b"User-agent: *\nDisallow: /x\n")

        def log_message(self, *_):
            pass

    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{found.server_port}", told
    found.shutdown()
    found.server_close()


@pytest.mark.parametrize(
    ("status", "text"),
    [(200, "User-agent: *\nDisallow: /x\n"), (404, ""), (403, ""), (429, NOTHING), (503, NOTHING)],
)
def test_what_an_answer_means(server, status, text):
    origin, said = server
    said["status"] = status
    assert fetch_robots(origin, {}, "dynaweb") == text


def test_a_redirect_is_followed_and_a_circle_is_not(server):
    origin, said = server
    said["location"] = "/elsewhere.txt"
    assert fetch_robots(origin, {}, "dynaweb") == "User-agent: *\nDisallow: /x\n"
    said["location"], said["asked"] = "/robots.txt", 0
    fetch_robots(origin, {}, "dynaweb")
    assert said["asked"] == 6


def test_no_answer_allows_nothing():
    assert fetch_robots("http://127.0.0.1:9", {}, "dynaweb") == NOTHING
    assert ask("http://a b/", {}, "x", body=True).status == 0


def test_a_mapped_name_is_asked_where_it_is(server):
    origin, _ = server
    hosts = {"shop.localhost": origin.removeprefix("http://")}
    assert fetch_robots("http://shop.localhost", hosts, "dynaweb").startswith("User-agent")


def test_a_copy_serves_for_a_day(server, tmp_path):
    origin, said = server
    keep = tmp_path / "robots.json"
    for _ in range(2):
        robots = learn_robots((origin,), {}, keep, agent="dynaweb", header="x")
        assert not robots.allows(f"{origin}/x")
    assert said["asked"] == 1
    old = json.loads(keep.read_text())
    old[origin]["at"] -= 90_000
    keep.write_text(json.dumps(old))
    learn_robots((origin,), {}, keep, agent="dynaweb", header="x")
    assert said["asked"] == 2


async def test_turns_keep_their_distance():
    turns, times = Turns({HERE: 0.1}), []

    async def go():
        await turns.wait(HERE)
        times.append(time.monotonic())

    await asyncio.gather(*(go() for _ in range(4)), turns.wait(THERE))
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert len(gaps) == 3 and all(gap >= 0.099 for gap in gaps)
