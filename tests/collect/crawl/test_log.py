"""The log of steps: round trips, shards, torn lines; and what recovery makes of a kill at any line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynaweb.collect.crawl.config import CrawlConfig, Source
from dynaweb.collect.crawl.frontier import Frontier
from dynaweb.collect.crawl.log import CrawlLog, Event, dump_event, load_event, read_events, shards
from dynaweb.collect.crawl.work import recover
from dynaweb.errors import StorageError, UserError
from dynaweb.records.action import Click, Fill
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.trajectory import Fault, Reason

CONFIG = CrawlConfig(starts=("http://a/",), sources=(Source(origin="http://a"),))
texts = st.text(max_size=20)


def page(n):
    return Observation(url=f"http://a/{n}", title="T", tree=f"RootWebArea 'T {n}'")


@given(texts, texts, st.sampled_from([None, *Fault]), st.sampled_from([None, *Reason]))
def test_round_trip(url, words, fault, end):
    event = Event(
        visit=3, n=2, url=url, seed=2**62, action=Fill("7", words), fault=fault, end=end, detail=words,
        page=Observation(url=url, title=words, tree=words, tabs=(Tab(url=url, title="", back=(url,)),)),
    )  # fmt: skip
    line = dump_event(event)
    assert load_event(line, "x") == event and line.isascii() and "\n" not in line


def test_other_lines_are_refused():
    for line in ("[1]", "{}", "x", '{"visit": 1, "n": 0, "more": 2}'):
        with pytest.raises(StorageError, match="here"):
            load_event(line, "here")


def test_shards(tmp_path):
    with CrawlLog(tmp_path, shard_bytes=300) as log:
        for n in range(9):
            assert log.shard in (1, 2, 3, 4, 5)
            log.append(Event(visit=1, n=n, page=page(n)))
    assert len(shards(tmp_path)) > 2
    assert [e.n for e in read_events(tmp_path)] == list(range(9))
    with CrawlLog(tmp_path, shard_bytes=300) as log:
        log.append(Event(visit=1, n=9, page=page(9)))
    assert [e.n for e in read_events(tmp_path)][-1] == 9


def test_a_torn_line_goes_aside(tmp_path):
    with CrawlLog(tmp_path) as log:
        log.append(Event(visit=1, n=0, page=page(0)))
    with shards(tmp_path)[0].open("ab") as file:
        file.write(b'{"visit": 1, "n": 1, "pa')
    assert [e.n for e in read_events(tmp_path)] == [0]
    with CrawlLog(tmp_path) as log:
        log.append(Event(visit=1, n=1, page=page(1)))
    assert [e.n for e in read_events(tmp_path)] == [0, 1]
    assert shards(tmp_path)[0].with_name("steps-00001.jsonl.torn").exists()


def session(tmp_path, lines):
    """A session that ended after so many lines of a visit of two steps."""
    frontier = Frontier(tmp_path / "f.sqlite", seed=0, per_pattern=9, max_depth=9)
    frontier.add([("http://a/", "p", "")], 0)
    visit = frontier.take(1)
    events = [
        Event(visit=visit.visit_id, n=0, url="http://a/", page=page(0)),
        Event(visit=visit.visit_id, n=1, action=Click("1"), page=page(1)),
        Event(visit=visit.visit_id, n=2, action=Click("2"), page=page(2)),
        Event(visit=visit.visit_id, n=2, end=Reason.OUT_OF_STEPS),
    ]
    with CrawlLog(tmp_path) as log:
        for event in events[:lines]:
            log.append(event)
    frontier.close()


@pytest.mark.parametrize("lines", range(5))
def test_recovery_after_any_line(tmp_path, lines):
    session(tmp_path, lines)
    steps = max(0, min(lines - 1, 2))
    for found in (1, 0):  # the second time there is nothing left to do
        with (
            Frontier(tmp_path / "f.sqlite", seed=0, per_pattern=9, max_depth=9) as frontier,
            CrawlLog(tmp_path) as log,
        ):
            assert recover(tmp_path, frontier, log, CONFIG) == found
            assert frontier.totals() == ((1, steps) if steps else (0, 0))
            assert frontier.waits() is (steps == 0)
    events = list(read_events(tmp_path))
    ends = [e for e in events if e.end is not None]
    assert len(ends) == 1 and ends[0].n == steps
    assert ends[0].end is (Reason.OUT_OF_STEPS if lines == 4 else Reason.RECORDING_STOPPED)
    assert [e.n for e in events if e.end is None] == list(range(min(lines, 3)))


@pytest.mark.parametrize(
    ("setting", "value"),
    [("workers", 0), ("workers", 65), ("min_steps", 11), ("max_steps", 101), ("again", 0), ("min_score", 11)],
)  # fmt: skip
def test_settings_out_of_range(setting, value):
    with pytest.raises(UserError, match=str(value)):
        CrawlConfig(starts=("http://a/",), sources=(Source(origin="http://a"),), **{setting: value})
