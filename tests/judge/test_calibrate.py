"""The bar: as low as the wanted false-positive rate allows, and stored whole."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynaweb.errors import StorageError, UserError
from dynaweb.judge.calibrate import (
    calibrate,
    calibrate_tasks,
    load_calibration,
    save_calibration,
)

scored = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60).filter(
    lambda rows: {ok for _, ok in rows} == {True, False}
)


@given(scored, st.sampled_from([0.0, 0.05, 0.2, 0.5]))
@settings(max_examples=150, deadline=None)
def test_the_rate_is_kept_and_no_lower_bar_would_keep_it(
    rows: list[tuple[float, bool]], rate: float
) -> None:
    scores, truth = [s for s, _ in rows], [ok for _, ok in rows]
    c = calibrate(scores, truth, wanted_false_positive_rate=rate)
    assert c.false_positives <= rate * c.failures
    assert (c.failures, c.successes) == (truth.count(False), truth.count(True))
    lower = [s for s in scores if s < c.threshold]
    if lower:
        bar = max(lower)
        passed = sum(s >= bar for s, ok in rows if not ok)
        assert passed > rate * c.failures


def test_the_bar_stands_between_scores() -> None:
    c = calibrate([0.9, 0.8, 0.4, 0.1], [True, True, False, False], wanted_false_positive_rate=0.0)
    assert c.threshold == pytest.approx(0.6) and c.true_positives == 2


def test_it_is_read_back_as_written(tmp_path: Path) -> None:
    c = calibrate([0.9, 0.1], [True, False])
    save_calibration(c, tmp_path)
    assert load_calibration(tmp_path) == c


@pytest.mark.parametrize("text", ["", "{", "[]", '{"threshold": 1}'])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "judge.json").write_text(text, encoding="utf-8")
    with pytest.raises(StorageError, match="calibrate the judge again"):
        load_calibration(tmp_path)


def test_nothing_to_set_it_on_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="1 successes and 0 failures"):
        calibrate([0.5], [True])
    with pytest.raises(UserError, match="out of range"):
        calibrate([0.5, 0.1], [True, False], wanted_false_positive_rate=1.0)
    with pytest.raises(StorageError, match="calibrate the judge"):
        load_calibration(tmp_path)


def test_each_task_with_failures_has_its_own_bar():
    scores = [0.9, 0.1, 0.2, 0.3, 0.95, 0.96, 0.97, 0.6, 0.7]
    succeeded = [True, False, False, False, False, False, False, True, True]
    tasks = ["easy"] * 4 + ["hard"] * 3 + ["new"] * 2
    found = calibrate_tasks(scores, succeeded, tasks)
    assert 0.3 < found.by_task["easy"] < 0.9
    assert found.by_task["hard"] > 0.97
    assert found.by_task["new"] == 0.5
    assert (found.false_positives, found.true_positives) == (0, 3)


def test_one_good_looking_failure_does_not_close_every_other_task():
    scores = [0.9, 0.95, 0.995, 0.2, 0.1, 0.3, 0.97, 0.98]
    succeeded = [True, True, False, False, False, False, True, True]
    tasks = ["one"] * 3 + ["many"] * 3 + ["none"] * 2
    found = calibrate_tasks(scores, succeeded, tasks, wanted_false_positive_rate=0.3)
    assert found.by_task["none"] == 0.5
    assert found.by_task["one"] == found.threshold < 0.9
