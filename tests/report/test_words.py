"""A claim is never stronger than its interval."""

import pytest

from dynaweb.evaluate.results import ComparisonResult, EvaluationResults
from dynaweb.evaluate.statistics import PairedDifference, Tally
from dynaweb.report.words import (
    caution,
    duration,
    finding,
    headline,
    number,
    p_value,
    percent,
    points,
)


def paired(difference, low, high, *, control="SFT", left_out=0):
    return PairedDifference(
        treatment="DynaWeb",
        control=control,
        difference=difference,
        low=low,
        high=high,
        confidence=0.95,
        pairs=100,
        left_out=left_out,
        tasks=5,
        episodes=Tally(wins=1, losses=1, ties=98, p_value=1.0),
        by_task=Tally(wins=1, losses=1, ties=3, p_value=1.0),
    )


def results(*answers):
    return EvaluationResults(
        plan_hash="x",
        arms=(),
        comparisons=tuple(ComparisonResult(primary=True, paired=p) for p in answers),
    )


@pytest.mark.parametrize(("low", "high"), [(-0.01, 0.2), (0.0, 0.2), (-0.2, 0.0)])
def test_an_interval_that_touches_zero_shows_nothing(low, high):
    said = finding(paired(0.1, low, high))
    assert "includes zero" in said and "better than" not in said
    assert (
        headline(results(paired(0.1, low, high)))
        == "DynaWeb cannot be told from SFT on real pages."
    )


def test_better_and_worse_are_said_plainly():
    assert finding(paired(0.1, 0.02, 0.2)).endswith("DynaWeb is better than SFT.")
    assert finding(paired(-0.1, -0.2, -0.02)).endswith("SFT is better than DynaWeb.")
    assert "10.0 points below SFT" in finding(paired(-0.1, -0.2, -0.02))


def test_every_primary_comparison_is_in_the_headline():
    said = headline(
        results(
            paired(0.1, 0.02, 0.2),
            paired(0.1, -0.02, 0.2, control="FBC"),
            paired(-0.1, -0.2, -0.02, control="SFT+"),
        )
    )
    assert said == "DynaWeb beats SFT, loses to SFT+ and cannot be told from FBC on real pages."


def test_nothing_known_is_nothing_said():
    assert "nothing is known" in finding(paired(None, -1.0, 1.0))
    assert headline(results()).startswith("No comparison")


def test_many_missing_pairs_are_warned_of():
    assert caution(results(paired(0.1, 0.0, 0.2, left_out=2))) is None
    assert "10 of 110 pages left the comparison" in str(
        caution(results(paired(0.1, 0.0, 0.2, left_out=10)))
    )


def test_numbers():
    assert (percent(None), percent(0.123, 1)) == ("–", "12.3\u202f%")
    assert (points(-0.1234), points(0.0), points(-0.0001)) == ("−12.3", "0.0", "0.0")
    assert (number(0), number(1234.5), number(-0.00012), number(None)) == (
        "0",
        "1234",
        "−1.2e−04",
        "–",
    )
    assert (p_value(0.0004), p_value(0.0312)) == ("p < 0.001", "p = 0.031")
    assert [duration(x) for x in (3.21, 45, 600, 7500)] == [
        "3.2\u202fs",
        "45\u202fs",
        "10\u202fmin",
        "2\u202fh 5\u202fmin",
    ]
