"""The trajectory filter: every step accounted for, and each reason for what is dropped."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynaweb.collect.crawl.config import Source
from dynaweb.collect.crawl.log import Event
from dynaweb.errors import UserError
from dynaweb.recipes.crawlcard import card_markdown, make_card
from dynaweb.recipes.crawlsift import Sieve, SiftRules, trajectories_of
from dynaweb.records.action import Click, GoBack, Scroll
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault, Outcome, Reason

URL = "http://a.example/"
SOURCES = (Source(origin="http://a.example", license="MIT", name="made-1.0"),)


def page(n, words=30, **more):
    lines = "\n".join(f"\t[{i}] link 'Link {n} {i}'" for i in range(1, words))
    return Observation(url=f"{URL}{n}", title=f"T{n}", tree=f"RootWebArea 'T{n}'\n{lines}", **more)


def visit(number, pages, action=None, end=Reason.OUT_OF_STEPS, detail=""):
    did = action or Click("3")
    first = Event(visit=number, n=0, url=URL, seed=7, page=pages[0])
    later = [Event(visit=number, n=n, action=did, page=p) for n, p in enumerate(pages[1:], 1)]
    return [first, *later, Event(visit=number, n=len(pages) - 1, end=end, detail=detail)]


def sift(events, **rules):
    sieve = Sieve(SiftRules(**rules))
    kept = [k for t in trajectories_of(events, SOURCES) if (k := sieve.sift(t)) is not None]
    tally = sieve.tally
    assert tally.seen_steps == sum(tally.steps.values())
    assert tally.seen_visits == tally.kept_visits + sum(tally.dropped_visits.values())
    assert sum(len(t.transitions()) for t in kept) == tally.kept_steps
    assert sum(tally.actions.values()) == sum(tally.kinds.values()) == tally.kept_steps
    return kept, tally


def test_a_visit_becomes_a_trajectory():
    (t,), tally = sift(visit(5, [page(0), page(1), page(2)]))
    assert (t.trajectory_id, t.task, t.seed, t.license, t.origin) == ("crawl/5", URL, 7, "MIT", "made-1.0")  # fmt: skip
    assert (t.outcome, t.reason) == (Outcome.FAILURE, Reason.OUT_OF_STEPS)
    assert [s.observation for s in t.steps] == [page(0), page(1)] and t.final == page(2)
    assert tally.kinds == {"full_page": 2} and tally.local_share == 0.0
    assert tally.pages == {"a.example": 3}


def test_visits_that_are_mixed_are_told_apart():
    one, other = visit(1, [page(0), page(1)]), visit(2, [page(5), page(6), page(7)])
    mixed = [other[0], one[0], other[1], one[1], one[2], other[2], other[3]]
    kept, _ = sift(mixed)
    assert [t.trajectory_id for t in kept] == ["crawl/1", "crawl/2"]
    assert [s.observation for s in kept[1].steps] == [page(5), page(6)]


def test_unchanged_steps_are_pruned_and_what_follows_still_follows():
    same = page(1)
    (t,), tally = sift(visit(1, [page(0), same, same, page(2)]))
    assert [s.observation for s in t.steps] == [page(0), page(1)] and t.final == page(2)
    assert +tally.steps == {"kept": 2, "unchanged": 1}
    kept, tally = sift(visit(1, [same, same, same]))
    assert kept == [] and tally.dropped_visits == {"nothing changed": 1}


def test_a_refusal_that_is_told_is_kept():
    told = replace(page(0), last_action_error="element '3' is covered")
    events = visit(1, [page(0), told, page(1)])
    events[1] = replace(events[1], fault=Fault.IMPOSSIBLE)
    (t,), tally = sift(events)
    assert t.steps[0].fault is Fault.IMPOSSIBLE and t.steps[1].observation == told
    assert tally.faults == {"impossible": 1} and tally.kinds["local"] == 1


def test_an_error_that_goes_away_is_no_change_and_stays_where_it_was_shown():
    told = replace(page(0), last_action_error="element '3' is covered")
    events = visit(1, [page(0), told, page(0), page(1)])
    (t,), tally = sift(events)
    assert tally.steps["unchanged"] == 1 and t.steps[1].observation == told


def test_what_is_there_already():
    twice = [*visit(1, [page(0), page(1)]), *visit(2, [page(0), page(1)])]
    kept, tally = sift(twice)
    assert len(kept) == 1 and tally.dropped_visits == {"near-duplicate": 1}
    assert len(sift(twice, near=0)[0]) == 2
    longer = [*visit(1, [page(0), page(1)]), *visit(2, [page(9), page(0), page(1), page(8), page(0), page(1)])]  # fmt: skip
    kept, tally = sift(longer)
    assert len(kept[1].steps) == 4 and kept[1].reason is Reason.RECORDING_STOPPED
    assert +tally.steps == {"kept": 4, "kept between": 1, "near-duplicate, trimmed": 1}
    other = [*visit(1, [page(0), page(1)]), *visit(2, [page(0), page(1)], Scroll(0.0, 200.0))]
    assert len(sift(other)[0]) == 2, "another action is another transition"


def test_limits_and_words():
    events = visit(1, [page(n) for n in range(6)])
    assert sift(events, max_steps=4)[1].dropped_visits == {"over 4 steps": 1}
    assert sift(events, max_tokens=100)[1].dropped_visits == {"over 100 tokens": 1}
    assert sift(events, banned=("no", "LINK 5 3"))[1].dropped_visits == {"keyword 'LINK 5 3'": 1}
    assert sift([Event(visit=1, n=0, end=Reason.BROWSER_FAULT)])[1].dropped_visits == {"nothing was done": 1}  # fmt: skip
    for bad in ({"near": 0.3}, {"max_tokens": 0}, {"max_steps": 0}):
        with pytest.raises(UserError):
            SiftRules(**bad)


def test_a_last_action_whose_page_nobody_saw():
    events = visit(1, [page(0), page(1)], end=Reason.BROWSER_FAULT, detail="BrowserError: gone")
    events[-1] = replace(events[-1], action=GoBack())
    (t,), tally = sift(events)
    assert tally.seen_steps == 1 and len(t.transitions()) == 1
    assert t.outcome is Outcome.UNKNOWN


numbers = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=7), max_size=6)


@settings(max_examples=30, deadline=None)
@given(numbers, st.sampled_from([0, 0.9]), st.sampled_from([1, 3, 30]))
def test_every_step_is_accounted_for(walks, near, most):
    events = [e for i, walk in enumerate(walks) for e in visit(i, [page(n, 6) for n in walk])]
    kept, tally = sift(events, near=near, max_steps=most)
    assert tally.seen_steps == sum(len(w) - 1 for w in walks)
    for t in kept:
        assert all(x.observation != x.next_observation for x in t.transitions())


def test_the_card():
    _, tally = sift([*visit(1, [page(0), page(1)]), *visit(2, [page(0), page(1)])])
    card = make_card(
        tally, addresses={"done": 2, "dropped: robots.txt": 3}, refused={"robots": 1}, masked={}, speed=(3, 2.0),
        refused_hosts={f"cdn{i}.example": 30 - i for i in range(25)}, refused_by_proxy={"a.example:80 POST: no": 2},
    )  # fmt: skip
    assert card.steps_per_sec == 1.5 and card.transitions == 1
    text = card_markdown(card)
    assert (
        "| cdn19.example | 11 |" in text and "| cdn20" not in text and "| 5 others | 40 |" in text
    )
    assert "| a.example:80 POST: no | 2 |" in text and len(card.refused_hosts) == 25
    assert "| dropped: robots.txt | 3 |" in text and "1.50 actions/s" in text and "| near-duplicate | 1 |" in text  # fmt: skip
