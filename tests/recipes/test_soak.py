"""Slopes of a long run, on numbers whose slope is known."""

import random

import pytest

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.family import Usage
from dynaweb.errors import UserError
from dynaweb.recipes.faults.soak import fitted, soak
from dynaweb.runs.progress import silent


def seen(rss: list[float]) -> list[Usage]:
    return [Usage(processes=10, rss_mb=r, descriptors=100) for r in rss]


def test_a_straight_line_has_its_slope_and_no_doubt() -> None:
    found = fitted("rss_mb", lambda u: u.rss_mb, seen([500 + 0.5 * i for i in range(400)]))
    assert (found.growth, found.low, found.high) == pytest.approx((250.0, 250.0, 250.0))
    assert (found.first, found.last) == pytest.approx((500 + 0.5 * 87.5, 500 + 0.5 * 391.5))
    assert not found.ok


def test_what_grows_in_the_warm_up_alone_is_no_leak() -> None:
    found = fitted("rss_mb", lambda u: u.rss_mb, seen([float(min(i, 60)) for i in range(300)]))
    assert found.growth == 0 and found.ok


def test_the_interval_holds_the_slope_about_95_times_in_100() -> None:
    rng = random.Random(1)
    held = 0
    for _ in range(200):
        noisy = seen([900 + 0.1 * i + rng.gauss(0, 30) for i in range(300)])
        found = fitted("rss_mb", lambda u: u.rss_mb, noisy)
        held += found.low <= 50.0 <= found.high
    assert 180 <= held <= 198


def test_one_process_more_in_500_episodes_is_let_pass_and_two_are_not() -> None:
    for growth, ok in ((0.9, True), (2.0, False)):
        line = [Usage(processes=0, rss_mb=i * growth / 500, descriptors=0) for i in range(300)]
        assert fitted("processes", lambda u: u.rss_mb, line).ok is ok


async def test_too_few_episodes_and_unknown_tasks_are_refused() -> None:
    with pytest.raises(UserError, match="use 200 or more"):
        await soak(10, 1, ["click-test"], BrowserConfig(), silent)
    with pytest.raises(UserError, match="'no-task' has no scripted expert"):
        await soak(200, 1, ["no-task"], BrowserConfig(), silent)
