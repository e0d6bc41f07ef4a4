"""The world model's study: numbers over tasks, what is missed, what is told, and a small one for real."""

import json
from dataclasses import asdict, replace

import pytest

from dynaweb.bench.results import FidelityRow, JudgeRow, Mean, Share
from dynaweb.cli.main import main
from dynaweb.cli.world_study_told import BEGIN, END, SAID, lines
from dynaweb.errors import UserError
from dynaweb.evaluate.statistics import clustered_mean
from dynaweb.recipes.config import HELD_OUT_SEEDS, DataConfig
from dynaweb.recipes.presets import fidelity, study
from dynaweb.recipes.worldstudy import VERDICTS, WORLD, WorldStudy, measures, missed

TASKS = (
    FidelityRow(
        task="a",
        local_determined=Share(hits=9, n=10),
        local=Share(hits=9, n=12),
        any_page=Share(hits=18, n=20),
        any_page_copy=Share(hits=4, n=20),
        element_f1=Mean(total=9.5, n=12),
        element_f1_copy=Mean(total=0.0, n=12),
    ),
    FidelityRow(
        task="b",
        local_determined=Share(hits=6, n=6),
        local=Share(hits=6, n=6),
        any_page=Share(hits=10, n=10),
        any_page_copy=Share(hits=2, n=10),
    ),
    FidelityRow(task="c", ended=Share(hits=5, n=5)),
)
VERDICTS_OF = (
    JudgeRow(
        task="a",
        recall=Share(hits=6, n=8),
        false_negatives=Share(hits=1, n=8),
        false_positives=Share(hits=1, n=4),
        unknown=Share(hits=2, n=12),
    ),
    JudgeRow(task="b", false_positives=Share(hits=0, n=10), unknown=Share(hits=0, n=10)),
)


def made(**changed: object) -> WorldStudy:
    found = WorldStudy(
        commit="0123456789",
        machine={"processor": "one", "cores": 2, "python": "3"},
        tasks=3,
        parameters=1_000_000,
        threads=2,
        base_seconds=100.0,
        seconds=1000.0,
        steps=10,
        tokens=2000,
        attempts=50,
        live_steps=100,
        unseen=30,
        world=measures(TASKS, WORLD),
        judge=measures(VERDICTS_OF, VERDICTS),
        judge_with_bars=measures(VERDICTS_OF, VERDICTS),
        by_task=TASKS,
        judge_by_task=VERDICTS_OF,
    )
    return replace(found, **changed)  # type: ignore[arg-type]  # fields by name


def test_a_number_over_tasks_draws_whole_tasks_and_leaves_out_tasks_without_it():
    local = made().measure("local_determined")
    assert (local.total, local.n, local.tasks) == (15, 16, 2)
    assert local.mean == 15 / 16
    assert (local.low, local.high) == clustered_mean([(9, 10), (6, 6)])[1:]
    assert local.beside == 0.0


def test_beside_a_number_stands_what_needs_no_model():
    found = made()
    assert found.measure("any_page").beside == 6 / 30
    assert found.measure("element_f1").beside == 0.0
    assert found.measure("right").beside == (8 + 10) / 22


def test_what_was_never_seen_is_no_number():
    nothing = made().measure("full_page")
    assert (nothing.n, nothing.mean, nothing.low) == (0, None, None)


def test_an_open_verdict_is_not_right():
    row = VERDICTS_OF[0]
    # 8 successes: 6 found, 1 refused, 1 open; 4 failures: 1 passed, 2 told, 1 open
    assert row.right == Share(hits=8, n=12)
    assert row.right_of_decided == Share(hits=8, n=10)
    assert row.commoner == Share(hits=8, n=12)


def test_every_goal_that_is_missed_is_told():
    said = missed(made(parameters=6_000_000, seconds=1750.0))
    assert [line.split(":")[0] for line in said] == [
        "3 tasks, at least 20 wanted",
        "judge",
        "judge",
        "judge",
        "6,000,000 parameters, at most 5,000,000 wanted",
        "1,850 s of training, at most 1,800 s wanted (on a machine that does nothing else)",
    ]
    assert "18 of 22 (81.8%) right" in said[1]
    assert "1 of 14 (7.1%) real failures passed" in said[2]
    assert "14 real failures, at least 200" in said[3]


def test_the_page_has_every_number_that_was_measured():
    told = lines(made(), ["something"])
    assert any(
        line.startswith("| parts changed, all: exact page | 15 of 18 | 2 |") for line in told
    )
    assert "| a | 9/10 | 9/12 |  |  |  | 8/12 | 1/4 | 6/8 |" in told
    assert told[-1] == "missed: something"
    assert set(WORLD) | set(VERDICTS) == set(SAID)
    assert lines(made(), [])[-1] == "All goals are met."


def test_held_out_pages_lie_where_nothing_is_trained():
    assert DataConfig(first_held_out=59_984, held_out=12).first_held_out == 59_984
    for first in (HELD_OUT_SEEDS - 1, 59_985):
        with pytest.raises(UserError, match=f"first_held_out {first}"):
            DataConfig(first_held_out=first, held_out=12)
    mine, theirs = fidelity().data, study().data
    assert mine.first_held_out >= theirs.first_held_out + theirs.held_out + theirs.held_out_noisy


def test_a_page_without_marks_is_refused_before_anything_is_made(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("nothing\n", "utf-8")
    out = tmp_path / "run"
    assert main(["world", "study", "--out", str(out), "--into", str(page)]) == 2
    assert BEGIN in capsys.readouterr().err
    assert not list(out.glob("*/"))


SMALL = (
    "tasks=click-button,enter-password",
    "data.experts=3",
    "data.random=2",
    "data.noisy=2",
    "data.agent=2",
    "data.held_out=2",
    "data.held_out_noisy=1",
    "data.held_out_random=1",
    "policy.vocab_size=1024",
    "policy.base.find=0",
    "policy.base.mixed=0",
    "policy.fit.epochs=2",
    "world.fit.steps=20",
    "world.train.verdict_exercises=20",
)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(1800)
def test_a_small_study_goes_all_the_way_and_is_only_read_the_second_time(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    words = ["world", "study", "--out", str(tmp_path / "run"), "--json", "--quiet"]
    words += [word for a in SMALL for word in ("--set", a)]
    assert main([*words, "--into", str(page)]) == 1  # twenty steps meet no goal
    told = json.loads(capsys.readouterr().out)
    assert told["tasks"] == 2 and told["steps"] == 20
    # an attempt that the browser broke stands there beside its repetition
    assert told["unseen"] >= 8
    assert told["missed"]
    assert sum(m["n"] for m in told["judge"] if m["name"] == "right") == 4
    text = page.read_text("utf-8")
    assert text.startswith(f"before\n{BEGIN}\nMeasured with `") and text.endswith(f"{END}\nafter\n")
    assert main(words) == 1
    assert json.loads(capsys.readouterr().out) == told


def test_a_study_is_plain_numbers():
    assert json.loads(json.dumps(asdict(made())))["tasks"] == 3
