"""Addresses and visits survive; each address is visited as often as it should be, and what is dropped has a reason."""

import sqlite3

import pytest

from dynaweb.collect.crawl.addresses import pattern_of
from dynaweb.collect.crawl.frontier import Frontier
from dynaweb.errors import StorageError


def opened(path, **more):
    return Frontier(path / "f.sqlite", **{"seed": 0, "per_pattern": 3, "max_depth": 2, **more})


def add(frontier, *urls, depth=0, reason=""):
    frontier.add([(u, pattern_of(u), reason) for u in urls], depth)


def test_each_address_once_and_shallow_ones_first(tmp_path):
    with opened(tmp_path) as f:
        add(f, "http://a/deep", depth=1)
        add(f, "http://a/", "http://a/x", "http://a/")
        add(f, "http://a/deep", depth=0)
        taken = [f.take(1) for _ in range(4)]
    assert {v.url for v in taken[:2]} == {"http://a/", "http://a/x"}
    assert taken[2].url == "http://a/deep" and taken[2].depth == 1 and taken[3] is None


def test_what_is_dropped_has_a_reason(tmp_path):
    with opened(tmp_path) as f:
        add(f, *(f"http://a/cal/{i}" for i in range(10)), depth=1)
        add(f, "http://a/x", depth=3)
        add(f, "http://a/y", reason="robots.txt")
        assert f.counts() == {
            "waiting": 3,
            "dropped: too many alike": 7,
            "dropped: too deep": 1,
            "dropped: robots.txt": 1,
        }
        add(f, *(f"http://a/start/{i}" for i in range(5)), depth=0)
        assert f.counts()["waiting"] == 8, "what the user named is not too many"


def test_visits_again(tmp_path):
    with opened(tmp_path) as f:
        add(f, "http://a/")
        nths = []
        while (visit := f.take(1)) is not None:
            nths.append(visit.nth)
            f.done(visit, steps=4, again=3)
        assert nths == [0, 1, 2] and f.totals() == (3, 12)


def test_a_broken_address_is_tried_again_then_dropped(tmp_path):
    with opened(tmp_path) as f:
        add(f, "http://a/")
        f.failed(f.take(1), "killed", tries=20, state="killed")
        for left in ({"waiting": 1}, {"dropped: unreachable": 1}):
            f.failed(f.take(1), "unreachable", tries=2)
            assert f.counts() == left
        assert f.take(1) is None and f.totals() == (0, 0)


def test_what_was_under_way_is_found_again(tmp_path):
    with opened(tmp_path) as f:
        add(f, "http://a/", "http://a/x")
        first, second = f.take(1), f.take(7)
        f.done(first, steps=1, again=1)
    with opened(tmp_path) as f:
        assert f.left_open() == [(second, 7)]


def test_the_order_depends_on_the_seed_alone(tmp_path):
    orders = []
    for name, seed, urls in (("a", 1, range(9)), ("b", 1, reversed(range(9))), ("c", 2, range(9))):
        (tmp_path / name).mkdir()
        with opened(tmp_path / name, seed=seed, per_pattern=99) as f:
            add(f, *(f"http://a/{i}" for i in urls))
            orders.append([f.take(1).url for _ in range(9)])
    assert orders[0] == orders[1] != orders[2]


def test_another_file_is_refused(tmp_path):
    (tmp_path / "f.sqlite").write_text(
        "no database, but a text that is longer than a header of one"
    )
    with pytest.raises(StorageError, match=r"f\.sqlite as a frontier"):
        opened(tmp_path)


def test_it_is_a_write_ahead_log(tmp_path):
    with opened(tmp_path):
        mode = sqlite3.connect(tmp_path / "f.sqlite").execute("PRAGMA journal_mode").fetchone()
    assert mode == ("wal",)
