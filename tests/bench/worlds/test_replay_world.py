"""Dreams of a model done again in a real Chromium, by depth."""

import pytest
from tests.bench.worlds.models import Says, said

from dynaweb.bench.worlds.answers import Measured
from dynaweb.browser.config import BrowserConfig
from dynaweb.errors import UserError
from dynaweb.recipes.worldreplay import ReplayWish, replay_world
from dynaweb.runs.progress import silent
from dynaweb.world.baselines import CopyWorldModel


@pytest.mark.browser
def test_copying_is_right_until_something_happens_and_an_early_end_is_wrong():
    # two tasks, so that a page seed of each policy is met; a click ends the first at once
    wish = ReplayWish(tasks=("click-test", "enter-text"), pages=2, depth=3)
    copy = Measured(name="copy", world=CopyWorldModel(), checksum="copy")
    report = replay_world(copy, wish, BrowserConfig(), silent)
    assert (report.dreams, report.broken) == (4, 0)
    assert report.rows[0].pages_equal.n == 4 and len(report.rows) == 3
    # click-test ends with its first click for the expert, and a copy never says so
    assert report.rows[0].endings_equal.hits < 4
    ends = Says(lambda q: said(q.history[-1], terminal=True))
    report = replay_world(
        Measured(name="ends", world=ends, checksum="e"), wish, BrowserConfig(), silent
    )
    assert report.rows[0].endings_equal.n == 4
    assert [row.pages_equal.n for row in report.rows] == [4, 0, 0]


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"depth": 11}, {"pages": 0}, {"workers": 0}])
def test_what_cannot_be_replayed_is_refused(wrong):
    with pytest.raises(UserError):
        ReplayWish(tasks=("click-test",), **wrong)
