"""The bars: as wide as the wanted error rates allow, each task its own, and stored whole."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynaweb.errors import StorageError, UserError
from dynaweb.judge.calibrate import (
    CalibrationConfig,
    Scored,
    calibrate,
    calibrate_tasks,
    load_calibration,
    save_calibration,
)

rows = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60).filter(
    lambda rows: {ok for _, ok in rows} == {True, False}
)
rates = st.sampled_from([0.0, 0.05, 0.2, 0.5])
precisions = st.sampled_from([0.0, 0.5, 0.85, 1.0])
STRICT = CalibrationConfig(false_positive_rate=0.0, false_negative_rate=0.0)


def scored(rows: list[tuple[float, bool]], task: str = "a") -> list[Scored]:
    return [Scored(task=task, score=s, succeeded=ok) for s, ok in rows]


@given(rows, rates, rates, precisions)
@settings(max_examples=200, deadline=None)
def test_rates_and_precision_are_kept(
    rows: list[tuple[float, bool]], positive: float, negative: float, precision: float
) -> None:
    how = CalibrationConfig(
        false_positive_rate=positive, false_negative_rate=negative, precision=precision
    )
    bar = calibrate(scored(rows), how)
    bad, good = [s for s, ok in rows if not ok], [s for s, ok in rows if ok]
    wrong, right = sum(s >= bar.success for s in bad), sum(s >= bar.success for s in good)
    assert wrong <= positive * len(bad)
    assert right >= precision * (right + wrong)
    assert sum(s < bar.failure for s in good) <= negative * len(good)


@given(rows, rates)
@settings(max_examples=200, deadline=None)
def test_no_success_is_left_out_that_could_pass(
    rows: list[tuple[float, bool]], positive: float
) -> None:
    how = CalibrationConfig(false_positive_rate=positive, false_negative_rate=0.0, precision=0.0)
    bar = calibrate(scored(rows), how)
    bad, good = [s for s, ok in rows if not ok], [s for s, ok in rows if ok]
    if bar.failure < bar.success:
        for refused in (s for s in good if s < bar.success):
            assert sum(s >= refused for s in bad) > positive * len(bad)


def test_a_judge_that_tells_all_apart_is_always_sure() -> None:
    bar = calibrate(scored([(0.9, True), (0.8, True), (0.4, False), (0.1, False)]), STRICT)
    assert bar.success == bar.failure == pytest.approx(0.6)


def test_what_looks_the_same_is_left_open() -> None:
    rows = [(0.9, True), (0.5, True), (0.7, False), (0.1, False)]
    bar = calibrate(scored(rows), STRICT)
    assert (bar.success, bar.failure) == pytest.approx((0.8, 0.3))


def test_few_false_positives_are_too_many_where_success_is_rare() -> None:
    rows = [(0.9, True), (0.95, False)] + [(0.1, False)] * 38
    loose = CalibrationConfig(false_positive_rate=0.05, precision=0.5)
    assert calibrate(scored(rows), loose).success == pytest.approx(0.5)
    assert calibrate(scored(rows), CalibrationConfig(precision=0.85)).success > 1.0


def test_each_task_with_enough_attempts_has_its_own_bar() -> None:
    easy = scored([(0.9, True), (0.8, True), (0.7, True), (0.1, False), (0.2, False), (0.3, False)])
    hard = scored([(0.95, False), (0.96, False), (0.97, False), (0.6, True)], "hard")
    found = calibrate_tasks(easy + hard, STRICT)
    assert found.by_task["a"].success == pytest.approx(0.5)
    assert found.by_task["hard"].success > 1.0, "nothing passes where no success looks better"
    assert found.by_task["hard"].failure == found.bar.failure < 0.6, "one success sets no edge"
    assert (found.failures, found.successes) == (6, 4)
    assert found.judge_config().bar_of("unseen") == found.bar


def test_a_task_that_always_ends_well_is_no_easier_than_the_others() -> None:
    mixed = scored([(0.9, True), (0.8, True), (0.85, True), (0.2, False), (0.1, False)])
    fine = scored([(0.7, True), (0.75, True), (0.8, True)], "fine")
    found = calibrate_tasks(mixed + fine, STRICT)
    assert found.bar.success <= found.by_task["fine"].success <= 0.7


def test_it_is_read_back_as_written(tmp_path: Path) -> None:
    c = calibrate_tasks(scored([(0.9, True), (0.1, False)]), CalibrationConfig())
    save_calibration(c, tmp_path)
    assert load_calibration(tmp_path) == c


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"bar": 1}',
        '{"bar": {"success": 0.1, "failure": 0.9}, "by_task": {}, "failures": 1, "successes": 1}',
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "judge.json").write_text(text, encoding="utf-8")
    with pytest.raises(StorageError, match="calibrate the judge again"):
        load_calibration(tmp_path)


def test_nothing_to_set_it_on_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="1 successes and 0 failures"):
        calibrate(scored([(0.5, True)]), STRICT)
    with pytest.raises(UserError, match="out of range"):
        CalibrationConfig(false_positive_rate=1.0)
    with pytest.raises(StorageError, match="calibrate the judge"):
        load_calibration(tmp_path)
