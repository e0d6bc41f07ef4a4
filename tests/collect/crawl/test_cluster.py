"""Workers on a Ray cluster of two nodes on this machine; a node that dies; a cluster that runs as long as a crawl."""

import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from functools import partial

import psutil
import pytest

from dynaweb.bench.madesite import MadeSite
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.scratch import folders
from dynaweb.cli.main import main
from dynaweb.collect.crawl.config import CrawlConfig, Source
from dynaweb.collect.crawl.log import read_events
from dynaweb.recipes.crawl import CrawlWish, make_tabs, run_crawl
from dynaweb.recipes.crawlsift import SiftRules
from dynaweb.runs.progress import silent

WITHOUT = "pip install -c constraints.txt -e '.[ray]'"
needs_cluster = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(600)]


def marked(test):
    for mark in needs_cluster:
        test = mark(test)
    return test


@pytest.fixture
def cluster(monkeypatch):
    pytest.importorskip("ray", reason=WITHOUT)
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_worker_niceness", "0")  # as on a node that is set up as the docs say
    small = {"num_cpus": 1, "object_store_memory": 100_000_000}
    made = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    made.add_node(**small)
    yield made
    made.shutdown()


def none_left(before, patience_sec=20.0):
    """Temporary folders of browsers that are new and still there after a while."""
    until = time.monotonic() + patience_sec
    while (left := set(folders()) - before) and time.monotonic() < until:
        time.sleep(0.2)
    return left


def wish(site, out, executable="", **config):
    settings = {"visits": 6, "workers": 2, "min_steps": 3, "max_steps": 5, **config}
    return CrawlWish(
        out=out,
        config=CrawlConfig(starts=(f"{site.origin}/",), sources=(Source(origin=site.origin),), **settings),
        rules=SiftRules(),
        browser=BrowserConfig(executable=executable, width_px=800, height_px=600),
    )  # fmt: skip


def on(cluster):
    from dynaweb.collect.crawl.cluster import cluster_visitors

    return partial(cluster_visitors, cluster.address)


def outposts(node):
    raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
    return [p for p in raylet.children(recursive=True) if "Outpost" in " ".join(p.cmdline())]


def listening(family):
    found = []
    for process in family:
        with suppress(psutil.Error):  # a helper that has just ended
            found += [
                c.laddr.ip for c in process.net_connections() if c.status == psutil.CONN_LISTEN
            ]
    return found


def under_way(folder):
    """Visits with a step and without an end."""
    events = list(read_events(folder))
    return {e.visit for e in events if e.n > 0} - {e.visit for e in events if e.end is not None}


@marked
def test_a_node_dies(cluster, tmp_path):
    before, out = set(folders()), tmp_path / "c"
    (second,) = cluster.worker_nodes
    acknowledged, killed = [], []

    def acknowledge(event):
        acknowledged.append((event.visit, event.n))
        if not killed and len(under_way(out)) == 2:
            killed.extend(outposts(second))
            assert len(killed) == 1, "one worker on each node"
            cluster.remove_node(second, allow_graceful=False)

    with MadeSite() as site:
        asked = wish(site, out, visits=8)
        card = run_crawl(asked, silent, acknowledge=acknowledge, make_visitors=on(cluster))
        assert killed and not any(p.is_running() for p in killed)
        events = list(read_events(out))
        assert [e.detail for e in events].count("the worker was lost") == 1
        written = Counter((e.visit, -1 if e.end is not None else e.n) for e in events)
        assert set(written.values()) == {1} and set(acknowledged) <= set(written)
        assert len(acknowledged) == len(set(acknowledged))
        assert card.addresses["done"] == 8 and card.seen_steps == sum(card.steps.values())
        assert not [p for p in site.paths if p.startswith("/private")]
        assert {method for _, method, _ in site.requests} == {"GET"}
        assert not none_left(before)
        more = run_crawl(wish(site, out, visits=9), silent, make_visitors=make_tabs)
        assert more.addresses["done"] == 9, "it goes on in this process"


@marked
def test_a_worker_is_killed_and_replaced(cluster, tmp_path):
    before, out, killed = set(folders()), tmp_path / "c", []
    (second,) = cluster.worker_nodes

    def acknowledge(event):
        if not killed and len(under_way(out)) == 2:
            killed.extend(outposts(second))
            killed[0].kill()

    with MadeSite() as site:
        asked = wish(site, out, visits=10)
        card = run_crawl(asked, silent, acknowledge=acknowledge, make_visitors=on(cluster))
    assert len(killed) == 1 and card.addresses["done"] == 10
    events = list(read_events(out))
    assert [e.detail for e in events].count("the worker was lost") == 1
    assert set(Counter((e.visit, e.n, e.end) for e in events).values()) == {1}
    assert not none_left(before)


@marked
def test_a_node_without_a_browser(cluster, tmp_path, capsys):
    with MadeSite() as site:
        said = ["crawl", f"{site.origin}/", "--out", str(tmp_path / "c"), "--quiet", "--executor", "ray"]  # fmt: skip
        code = main([*said, "--ray-address", cluster.address, "--browser", "/nowhere/x"])
    error = capsys.readouterr().err
    assert code == 4 and "no browser at '/nowhere/x'" in error


@marked
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_cluster_as_long_as_a_crawl(tmp_path, number, code):
    pytest.importorskip("ray", reason=WITHOUT)
    before = set(folders())
    with MadeSite() as site:
        command = [
            sys.executable, "-m", "dynaweb.cli.main", "crawl", f"{site.origin}/", "--out", str(tmp_path / "c"), "--quiet",
            "--executor", "ray", "--workers", "1", "--acknowledge", "--visits", "1000", "--again", "1000",
        ]  # fmt: skip
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert child.stdout.readline().split() == ["1", "1"]
            family = psutil.Process(child.pid).children(recursive=True)
            assert any("raylet" in p.name() for p in family)
            ears = listening(family)
            assert ears and all(ip.removeprefix("::ffff:").startswith("127.") for ip in ears), (
                "nobody else can reach it"
            )
            child.send_signal(number)
            _, error = child.communicate(timeout=60)
        finally:
            child.kill()
    assert child.returncode == code and "run the same command again" in error
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]
    assert not none_left(before)


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["--executor", "cloud"], 2, "no --executor 'cloud'"),
        (["--ray-address", "127.0.0.1:6379"], 2, "add --executor ray"),
    ],
)
def test_mistakes(words, code, problem, tmp_path, capsys):
    assert main(["crawl", "http://127.0.0.1:9/", "--out", str(tmp_path / "c"), *words]) == code
    said = capsys.readouterr().err
    assert problem in said and said.count("\n") == 1


def test_without_ray(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "dynaweb.collect.crawl.cluster", raising=False)
    assert main(["crawl", "http://127.0.0.1:9/", "--out", str(tmp_path / "c"), "--executor", "ray"]) == 4  # fmt: skip
    said = capsys.readouterr().err
    assert "pip install 'dynaweb[ray]'" in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("address", "code", "problem"),
    [
        ("127.0.0.1:1", 4, "no Ray cluster at '127.0.0.1:1'"),
        ("ray://127.0.0.1:10001", 2, "write HOST:PORT"),
        ("somewhere", 2, "write HOST:PORT"),
    ],
)
def test_no_cluster_there(address, code, problem, tmp_path, capsys):
    pytest.importorskip("ray", reason=WITHOUT)
    with MadeSite() as site:
        said = ["crawl", f"{site.origin}/", "--out", str(tmp_path / "c"), "--quiet", "--executor", "ray"]  # fmt: skip
        assert main([*said, "--ray-address", address]) == code
    error = capsys.readouterr().err
    assert problem in error and error.count("\n") == 1
