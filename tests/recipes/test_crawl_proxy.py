"""A crawl behind the egress proxy: one server that is named, one that is not, and a proxy that dies."""

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace

import psutil
import pytest

from dynaweb.bench.madesite import MadeSite
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.crawl.asking import ask
from dynaweb.browser.crawl.manners import Manners
from dynaweb.browser.crawl.robots import NOTHING, fetch_robots, learn_robots, make_robots
from dynaweb.browser.crawl.site import crawl_world
from dynaweb.browser.egress import way as way_out
from dynaweb.browser.egress.inside.decide import OUR_NAME, PROXY_STATUS, Rules
from dynaweb.browser.egress.way import WayOut
from dynaweb.collect.crawl.config import CrawlConfig, Source
from dynaweb.collect.crawl.log import read_events
from dynaweb.collect.crawl.outpost import Need, Outpost, posting_of
from dynaweb.collect.crawl.visit import Job
from dynaweb.errors import BrowserError, MissingDependencyError, UserError
from dynaweb.recipes.crawl import CrawlWish, run_crawl
from dynaweb.recipes.crawlproxy import proxied, proxy_rules
from dynaweb.recipes.crawlsift import SiftRules
from dynaweb.runs.progress import silent

HERE, THERE = "http://127.0.0.1:8000", "https://example.org"


def rules_of(*origins, writable=(), hosts=None, private=()):
    return proxy_rules(origins, writable=writable, hosts=hosts or {}, private=private)


def test_places_on_this_machine_need_no_proxy():
    assert rules_of(HERE, "http://app.localhost", "http://[::1]:3000") is None
    assert rules_of("http://shop.localhost", hosts={"shop.localhost": "127.0.0.1:18000"}) is None


def test_one_place_elsewhere_sends_everything_through_the_proxy():
    hosts = {"shop.localhost": "127.0.0.1:18000"}
    found = rules_of(HERE, THERE, "http://shop.localhost", writable=(HERE,), hosts=hosts)
    assert found == Rules(
        hosts=("example.org:443",), private=("127.0.0.1:8000",), read_only=True, writable=("127.0.0.1:8000",)
    )  # fmt: skip
    assert rules_of("http://[::1]:3000", private=("10.0.0.5:80",)) == Rules(
        private=("[::1]:3000", "10.0.0.5:80")
    )


def test_a_private_address_must_be_named():
    with pytest.raises(UserError, match=r"--private 10\.0\.0\.5:8080"):
        rules_of("http://10.0.0.5:8080")
    named = rules_of("http://10.0.0.5:8080", private=("10.0.0.5:8080",))
    assert named is not None and named.private == ("10.0.0.5:8080",)


class Luring(http.server.ThreadingHTTPServer):
    """Every page of it calls out to another server, in all the ways that a crawl meets; notes what it was asked."""

    daemon_threads = True

    def __init__(self, outside):
        super().__init__(("127.0.0.1", 0), _Lure)
        self.page = (
            f"<!doctype html><title>Lure</title><h1>Lure</h1><a href='/a'>One</a> <a href='/b'>Two</a> <a href='{outside}/link'>Out</a>"
            f"<a href='/away'>Away</a><a href='{outside}/window' target=_blank>Window</a><iframe src='{outside}/frame'></iframe>"
            f"<script src='{outside}/script.js'></script><script>fetch('{outside}/fetch', {{mode: 'no-cors'}}).catch(() => 0)</script>"
            f"<form action='{outside}/form'><label>Name <input name=q></label><button>Send</button></form>"
            "<button onclick=\"this.textContent += '!'\">More</button>"
        ).encode()
        self.outside = outside
        self.paths = []


class _Lure(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.paths.append(self.path)
        away = self.path == "/away"
        self.send_response(302 if away else 404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        if away:
            self.send_header("Location", f"{self.server.outside}/away")
        self.end_headers()
        self.wfile.write(b"" if away else self.server.page)

    def log_message(self, *_):
        pass


@contextmanager
def luring(outside):
    with Luring(outside) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def outside():
    with MadeSite() as made:
        yield made


def place(origin):
    return origin.removeprefix("http://")


def wish(out, origin, home, **config):
    return CrawlWish(
        out=out,
        config=CrawlConfig(starts=(f"{origin}/",), sources=(Source(origin=origin),), **config),
        rules=SiftRules(near=0.0),
        browser=BrowserConfig(width_px=800, height_px=600),
        writable=(origin,),
        private=(place(origin),),
        home=home,
    )


@pytest.mark.browser
def test_a_server_that_is_not_named_is_never_asked(outside, proxy_home, tmp_path):
    with luring(outside.origin) as lure:
        origin = f"http://127.0.0.1:{lure.server_port}"
        card = run_crawl(wish(tmp_path / "c", origin, proxy_home, visits=3, workers=2), silent)
    assert outside.requests == []
    assert lure.paths[0] == "/robots.txt" and len(lure.paths) > 3 and card.transitions > 3
    assert card.refused_hosts[place(outside.origin)] == card.refused_requests["elsewhere"] > 0
    assert json.loads((tmp_path / "c/card.json").read_text())["refused_hosts"] == card.refused_hosts
    assert f"| {place(outside.origin)} |" in (tmp_path / "c/card.md").read_text()


@pytest.mark.browser
async def test_what_the_manners_would_let_past_the_proxy_refuses(outside, proxy_home):
    with MadeSite() as named, proxied_site(named, proxy_home) as outlet:
        texts = dict.fromkeys((named.origin, outside.origin), "")
        robots = make_robots("dynaweb", texts)
        manners = Manners(origins=tuple(texts), robots=robots, way=outlet.way)
        async with crawl_world(manners, BrowserConfig(prefetch=0)) as make:
            env, _ = make()
            assert "Made-up site" in (await env.reset(f"{named.origin}/", 0)).tree
            with pytest.raises(BrowserError, match="403"):
                await env.reset(f"{outside.origin}/", 0)
            await env.close()
        assert not outside.requests and "/" in named.paths
        assert [k for k in outlet.refusals() if k.startswith(f"{place(outside.origin)} GET: ")]


@contextmanager
def proxied_site(site, home, **more):
    rules = Rules(private=(place(site.origin),), **more)
    # in a thread of its own: a test may have a loop already, and a proxy is opened by one
    with _Elsewhere(rules, home) as outlet:
        yield outlet


class _Elsewhere:
    def __init__(self, rules, home):
        self._rules, self._home = rules, home
        self._ready, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        with proxied(self._rules, self._home, silent) as self._outlet:
            self._ready.set()
            self._over.wait()

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(60)
        return self._outlet

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def test_robots_txt_comes_the_same_way(outside, proxy_home, tmp_path):
    with MadeSite() as named, proxied_site(named, proxy_home) as outlet:
        way = outlet.way
        assert "Disallow: /private" in fetch_robots(named.origin, {}, "dynaweb", way)
        assert fetch_robots(outside.origin, {}, "dynaweb", way) == NOTHING and not outside.requests
        hosts = {"site.localhost": place(outside.origin)}
        assert "Disallow" in fetch_robots("http://site.localhost", hosts, "dynaweb", way)
        assert ask(f"{named.origin}/thing/3", {}, "x", body=True, way=way).text.count("no. 3")
        assert ask("http://127.0.0.1:9/", {}, "x", body=True, way=way).status == 0
    # the proxy is gone: that the site did not answer is not its own word, and is not kept
    with pytest.raises(MissingDependencyError, match="egress proxy"):
        learn_robots((named.origin,), {}, tmp_path / "robots.json", agent="x", header="x", way=way)
    assert not (tmp_path / "robots.json").exists()


def test_methods_and_certificates(outside, proxy_home):
    def posted(way, url):
        connection = way.connection(url, 20.0)
        connection.request("POST", url if url.startswith("http:") else "/sent", body=b"a=1")
        answer = connection.getresponse()
        return answer.status, answer.headers.get(PROXY_STATUS, "").partition(";")[0]

    with proxied_site(outside, proxy_home) as outlet:
        assert posted(outlet.way, f"{outside.origin}/sent") == (403, OUR_NAME)
        # the refusal comes from inside the tunnel: the certificate that was made for this run is trusted
        assert posted(outlet.way, f"https://{place(outside.origin)}/sent") == (403, OUR_NAME)
    assert not outside.requests
    with proxied_site(outside, proxy_home, writable=(place(outside.origin),)) as outlet:
        assert posted(outlet.way, f"{outside.origin}/sent") == (200, "")
    assert [method for _, method, _ in outside.requests] == ["POST"]


def test_a_proxy_that_hangs_is_a_proxy_that_is_gone(outside, proxy_home, monkeypatch):
    monkeypatch.setattr(way_out, "PATIENCE_SEC", 1.0)
    with proxied_site(outside, proxy_home) as outlet:
        outlet.way.require()
        (proxy,) = proxies(os.getpid())
        proxy.send_signal(signal.SIGSTOP)
        with pytest.raises(MissingDependencyError, match="does not answer"):
            outlet.way.require()


def proxies(pid):
    below = psutil.Process(pid).children(recursive=True)
    return [p for p in below if any(word.endswith("mitmdump") for word in p.cmdline())]


def test_flags_name_one_way_out_and_the_sites_beside_it():
    args = WayOut(address="127.0.0.1:7", spki="x", authority="").chromium_args({"shop.localhost": "127.0.0.1:8"})  # fmt: skip
    assert "--proxy-server=http://127.0.0.1:7" in args
    assert "--proxy-bypass-list=<-loopback>;shop.localhost" in args
    assert "--host-resolver-rules=MAP shop.localhost:80 127.0.0.1:8, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1" in args  # fmt: skip


@pytest.mark.browser
@pytest.mark.timeout(400)
def test_a_proxy_that_dies_loses_nothing(outside, proxy_home, tmp_path):
    out = tmp_path / "c"
    command = [
        sys.executable, "-m", "dynaweb.cli.main", "crawl", f"{outside.origin}/", "--out", str(out), "--quiet", "--acknowledge", "--near", "0",
        "--private", place(outside.origin), "--home", str(proxy_home.root), "--workers", "2", "--visits", "4", "--max-steps", "3",
    ]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        acknowledged = [child.stdout.readline() for _ in range(2)]
        (proxy,) = proxies(child.pid)
        proxy.kill()
        rest, said = child.communicate(timeout=100)
    assert child.returncode == 4 and "egress proxy" in said and said.count("\n") <= 2, said
    told = {tuple(map(int, line.split())) for line in [*acknowledged, *rest.splitlines()]}
    before = (out / "steps-00001.jsonl").read_bytes()
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert (out / "steps-00001.jsonl").read_bytes().startswith(before)
    written = Counter((e.visit, -1 if e.end is not None else e.n) for e in read_events(out))
    assert told <= set(written) and set(written.values()) == {1}
    addresses = json.loads((out / "card.json").read_text())["addresses"]
    assert addresses["done"] == 4 and not [a for a in addresses if "does not open" in a]


@pytest.mark.browser
def test_a_worker_on_another_machine_has_a_proxy_of_its_own(outside, proxy_home):
    with MadeSite() as named, proxied_site(named, proxy_home) as outlet:
        texts = dict.fromkeys((named.origin, outside.origin), "")
        manners = Manners(
            origins=tuple(texts), robots=make_robots("dynaweb", texts), way=outlet.way
        )
        posting = posting_of(manners, BrowserConfig(prefetch=0), {}, scored=False)
        assert posting.way == outlet.way
        outpost = Outpost(replace(posting, machine="another"))
        try:
            assert outpost.open().problem == ""
            assert len(proxies(os.getpid())) == 2
            job = Job(number=1, url=f"{outside.origin}/", seed=0, min_steps=1, max_steps=1)
            told = outpost.begin(job, [])
        finally:
            outpost.close()
        assert told.need is Need.END and not outside.requests
        assert list(told.refused_by_proxy) == [
            f"{place(outside.origin)} GET: {place(outside.origin)} is not allowed"
        ]
        assert not outlet.refusals() and len(proxies(os.getpid())) == 1
