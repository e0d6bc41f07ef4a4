"""Curves and comparisons of several seeds, with values worked out by hand."""

import pytest

from dynaweb.errors import UserError
from dynaweb.evaluate.config import StatisticsConfig
from dynaweb.evaluate.learning import LearningResults, MeasuredPoint, learning_results
from dynaweb.evaluate.plan import Comparison
from dynaweb.evaluate.statistics import EpisodeOutcome
from dynaweb.records.trajectory import Outcome
from dynaweb.runs.jsonfile import read_record, write_record

ARMS = {"first": "demonstrations", "more": "the same for longer", "once": "one seed"}
SIGNS = {"1": Outcome.SUCCESS, "0": Outcome.FAILURE, "?": Outcome.UNKNOWN}
STATISTICS = StatisticsConfig(resamples=500)


def point(
    arm: str, seed: int, checkpoint: int, outcomes: dict[str, str], *, steps: int = 0
) -> MeasuredPoint:
    """A point whose pages are numbered from 5000000; `outcomes` is task -> a sign a page."""
    return MeasuredPoint(
        arm=arm,
        seed=seed,
        checkpoint=checkpoint,
        live_steps=steps,
        seconds=1.0,
        episodes=tuple(
            EpisodeOutcome(task=task, seed=5_000_000 + i, outcome=SIGNS[sign])
            for task, signs in outcomes.items()
            for i, sign in enumerate(signs)
        ),
    )


def results(*points: MeasuredPoint, comparisons: tuple[Comparison, ...] = ()) -> LearningResults:
    return learning_results(ARMS, comparisons, points, STATISTICS)


def test_seeds_of_an_arm_are_one_point():
    found = results(
        point("more", 0, 1, {"a": "11", "b": "00"}, steps=10),
        point("more", 1, 1, {"a": "10", "b": "0?"}, steps=30),
    )
    (curve,) = [c for c in found.curves if c.arm == "more"]
    (both,) = curve.points
    assert (both.successes, both.n, both.unknown) == (3, 7, 1)
    assert both.rate == pytest.approx(3 / 7)
    assert both.live_steps == 20.0
    assert [(t.task, t.successes, t.n) for t in both.tasks] == [("a", 3, 4), ("b", 0, 3)]
    assert [(s.seed, s.successes, s.n, s.unknown) for s in both.seeds] == [
        (0, 2, 4, 0),
        (1, 1, 3, 1),
    ]
    # two tasks that disagree: a bootstrap over tasks reaches the worse and the better one
    assert both.low == pytest.approx(0.0) and both.high == pytest.approx(0.75)


def test_pages_of_two_seeds_are_two_pairs():
    ours = [point("more", s, 2, {"a": signs}) for s, signs in ((0, "110"), (1, "011"))]
    theirs = [point("once", 0, 2, {"a": "100"})]
    asked = (Comparison(treatment="more", control="once", primary=True),)
    (compared,) = results(*ours, *theirs, comparisons=asked).comparisons
    assert compared.primary and compared.seeds == (0,)  # the seeds that both have
    assert compared.paired.pairs == 3
    assert compared.paired.difference == pytest.approx(1 / 3)
    assert (compared.paired.episodes.wins, compared.paired.episodes.losses) == (1, 0)


def test_the_first_agent_stands_beside_every_seed():
    first = point("first", 0, 0, {"a": "00", "b": "10"})
    ours = [point("more", s, 2, {"a": "11", "b": b}) for s, b in ((0, "10"), (1, "00"), (2, "10"))]
    asked = (Comparison(treatment="more", control="first"),)
    (compared,) = results(first, *ours, comparisons=asked).comparisons
    assert compared.seeds == (0, 1, 2)
    assert compared.paired.pairs == 12
    assert (compared.paired.episodes.wins, compared.paired.episodes.losses) == (6, 1)
    assert compared.paired.difference == pytest.approx(5 / 12)


def test_only_the_last_checkpoint_is_compared():
    asked = (Comparison(treatment="more", control="once"),)
    middle = [point("more", 0, 1, {"a": "1"}), point("once", 0, 1, {"a": "0"})]
    end = point("more", 0, 2, {"a": "0"})
    assert not results(*middle, end, comparisons=asked).comparisons  # `once` has no end yet
    (compared,) = results(
        *middle, end, point("once", 0, 2, {"a": "0"}), comparisons=asked
    ).comparisons
    assert compared.paired.difference == 0.0


def test_what_is_unknown_leaves_its_pair():
    asked = (Comparison(treatment="more", control="once"),)
    (compared,) = results(
        point("more", 0, 1, {"a": "1?"}), point("once", 0, 1, {"a": "00"}), comparisons=asked
    ).comparisons
    assert (compared.paired.pairs, compared.paired.left_out) == (1, 1)


def test_an_arm_that_nobody_named():
    with pytest.raises(UserError, match="'other'"):
        results(point("other", 0, 1, {"a": "1"}))


def test_results_come_back_from_disk(tmp_path):
    found = results(point("more", 0, 1, {"a": "1", "b": "0"}))
    write_record(tmp_path / "results.json", found)
    assert read_record(LearningResults, tmp_path / "results.json") == found


def test_nothing_is_measured_yet():
    found = results()
    assert all(not c.points for c in found.curves) and not found.comparisons
