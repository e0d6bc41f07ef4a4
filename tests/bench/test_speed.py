"""The benchmark of pages: made-up pages are what they claim to be, and its sums are right. No time is judged but growth."""

import json
from dataclasses import replace

import pytest

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.axtree.dialects.read import read_document, render_document
from dynaweb.axtree.diff import diff
from dynaweb.bench.speed import rivals
from dynaweb.bench.speed.limits import Limits, missed
from dynaweb.bench.speed.made import Change, made_page, made_pair, spell
from dynaweb.bench.speed.measure import change_speed, timed
from dynaweb.bench.speed.rivals import compare
from dynaweb.bench.speed.run import SpeedWish, measure_speed
from dynaweb.bench.speed.spread import estimate, ninth_decile, spread
from dynaweb.cli.main import main
from dynaweb.errors import UserError
from dynaweb.records.action import Click
from dynaweb.records.delta import DeltaKind
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Transition


@pytest.mark.parametrize("dialect", Dialect)
def test_a_made_page_is_found_and_read_in_every_dialect(dialect):
    text = spell(made_page(60, 1), dialect)
    document = read_document(text)
    assert (document.dialect, document.oddities) == (dialect, ())
    assert len(document.nodes) == 59
    assert render_document(document) == text


@pytest.mark.parametrize("change", Change)
def test_a_made_pair_is_of_its_kind(change):
    t = made_pair(80, 3, change)
    kind = DeltaKind.FULL_PAGE if change is Change.OTHER else DeltaKind.LOCAL
    assert diff(t.observation, t.action, t.next_observation).kind is kind
    assert change_speed([t]).exact == 1


def test_growth_is_not_quadratic():
    """Eight times the lines: quadratic would take 64 times as long; a busy machine is noisy."""

    def best(lines: int) -> float:
        pairs = [made_pair(lines, seed, Change.MORE) for seed in range(3)]
        return min(timed(diff, t.observation, t.action, t.next_observation)[0] for t in pairs)

    assert best(8_000) < 32 * max(best(1_000), 1.0)


def test_statistics():
    found = spread([3.0, 1.0, 2.0])
    assert (found.low, found.median, found.high, found.n) == (1.0, 2.0, 3.0, 3)
    assert ninth_decile(list(range(1, 12))) == 10
    assert ninth_decile([5.0]) == 5.0
    same = estimate([4.0, 4.0, 4.0], max)
    assert (same.value, same.low, same.high) == (4.0, 4.0, 4.0)
    wide = estimate([1.0, 9.0], lambda values: sum(values) / len(values))
    assert (wide.value, wide.low, wide.high) == (5.0, 1.0, 9.0)


def _pair(before: str, after: str) -> Transition:
    return Transition(
        observation=Observation(url="u", title="T", tree=before),
        action=Click("2"),
        next_observation=Observation(url="u", title="T", tree=after),
    )


CHECKED = _pair(
    "RootWebArea 'T'\n\t[2] checkbox 'One', checked='false'\n\t[3] link 'More'",
    "RootWebArea 'T'\n\t[2] checkbox 'One', checked='true'\n\t[3] link 'More'",
)


def test_one_attribute_is_one_operation_here_and_two_lines_in_difflib():
    row = compare("difflib", [CHECKED])
    assert row is not None
    assert (row.ours_operations, row.theirs_operations) == (1, 2)
    assert row.ours_characters == len("[2] checked='true'")
    # `--- `, `+++ `, `@@ -2 +2 @@`, the line that goes and the line that comes
    assert row.theirs_characters == 5 + 5 + 12 + 38 + 37


@pytest.mark.parametrize("rival", ["apted", "zss"])
def test_one_attribute_is_one_renamed_node_in_tree_edit_distance(rival):
    pytest.importorskip(rival)
    row = compare(rival, [CHECKED])
    assert row is not None
    assert (row.pairs, row.theirs_operations, row.theirs_characters) == (1, 1, None)


def test_a_page_too_long_for_tree_edit_distance_is_left_out(monkeypatch):
    monkeypatch.setattr(rivals, "MAX_TREE_LINES", 2)
    monkeypatch.setattr(rivals.importlib.util, "find_spec", lambda name: name)
    assert compare("zss", [CHECKED]) is None


def test_an_alternative_that_is_not_there_is_named_with_its_install_command(monkeypatch, capsys):
    monkeypatch.setattr(rivals.importlib.util, "find_spec", lambda name: None)
    assert main(["bench", "pages", "--pairs", "1", "--lines", "40", "--against"]) == 4
    assert "'apted': pip install 'dynaweb[bench]'" in capsys.readouterr().err


def test_a_recording_without_a_transition_is_refused():
    with pytest.raises(UserError, match=r"'x\.jsonl' holds no transition"):
        measure_speed(SpeedWish(), "x.jsonl", [])


ASK_NOTHING = ["--min-mb", "0", "--max-diff-ms", "0", "--max-growth", "0"]
"""A busy machine must not fail these tests."""

QUICK = ["bench", "pages", "--pairs", "6", "--repeats", "1", "--lines", "60"]


def test_the_command_says_everything_as_json(capsys):
    assert main([*QUICK, *ASK_NOTHING, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [p["dialect"] for p in said["parse"]] == [d.value for d in Dialect]
    assert (said["change"]["pairs"], said["change"]["exact"]) == (6, 6)
    assert [g["what"] for g in said["growth"]] == ["parse", "diff", "apply"]
    assert (said["rivals"], said["missed"]) == ([], [])
    assert said["machine"]["python"]


def test_missed_limits_fail_the_command_and_are_named(capsys):
    limits = ["--min-mb", "100000", "--max-diff-ms", "0.0001", "--max-growth", "0.1"]
    assert main([*QUICK, *limits]) == 1
    said = capsys.readouterr().out
    missed = [line for line in said.splitlines() if line.startswith("missed: ")]
    assert len(missed) == len(Dialect) + 1 + 3
    assert "missed: reading playwright_aria: " in said and "at least 100000 wanted" in said
    assert "missed: growth of diff: " in said and "at most 0.1 wanted" in said


def test_the_quickest_repetition_is_judged_and_an_inexact_change_fails():
    report = measure_speed(SpeedWish(lines=60, pairs=2, repeats=2))
    slowest = min(p.mb_per_sec.high for p in report.parse)
    growth = max(g.times for g in report.growth)
    just = Limits(
        min_mb_per_sec=slowest, max_diff_ms=report.change.diff_ms.value, max_growth=growth
    )
    assert missed(report, just) == ()
    assert len(missed(report, replace(just, min_mb_per_sec=slowest * 1.001))) == 1
    wrong = replace(report, change=replace(report.change, exact=1))
    assert missed(wrong, just) == ("changes: 1 of 2 pairs are not exact",)
