"""Answers are asked once: through kills, torn lines, and never for another model."""

import signal
import subprocess
import sys
import time

import pytest
from tests.bench.worlds.models import Says, said
from tests.bench.worlds.test_scores import CHAIRS, HOME, shop

from dynaweb.bench.worlds.answers import BATCH, Asked, Measured, answer_key, ask_all, read_answers
from dynaweb.bench.worlds.cases import find_cases, question
from dynaweb.contracts import Imagine, PredictionStatus
from dynaweb.errors import SamplerError, StorageError
from dynaweb.records.action import Click
from dynaweb.records.delta import Delta, DeltaKind, Updated
from dynaweb.records.trajectory import Fault
from dynaweb.runs.progress import silent

QUESTIONS = [Asked(key=f"key{i}", question=Imagine(history=(HOME,), action=Click(str(i)))) for i in range(40)]  # fmt: skip


def model(world, checksum="one"):
    return Measured(name="m", world=world, checksum=checksum)


def rich(q):
    delta = Delta(kind=DeltaKind.LOCAL, updated=(Updated(ref="3", set=(("checked", "true"), ("level", 2), ("x", None))),))  # fmt: skip
    return said(CHAIRS, delta=delta, fault=Fault.DISABLED, raw_text="u\u0000nd \ud800 so", confidence=0.25)  # fmt: skip


def test_an_answer_comes_back_as_it_was_and_is_not_asked_again(tmp_path):
    first, again = Says(rich), Says(rich)
    made = ask_all(model(first), QUESTIONS, tmp_path / "a.jsonl", silent)
    assert first.asked == 40
    assert ask_all(model(again), QUESTIONS, tmp_path / "a.jsonl", silent) == made
    assert again.asked == 0 and read_answers(tmp_path / "a.jsonl") == made


def test_a_question_that_stands_twice_is_asked_once(tmp_path):
    world = Says(rich)
    ask_all(model(world), [QUESTIONS[0], QUESTIONS[0]], tmp_path / "a.jsonl", silent)
    assert world.asked == 1


def test_a_torn_line_is_asked_again_and_the_others_are_not(tmp_path):
    path = tmp_path / "a.jsonl"
    made = ask_all(model(Says(rich)), QUESTIONS, path, silent)
    path.write_bytes(path.read_bytes()[:-30])
    world = Says(rich)
    again = ask_all(model(world), QUESTIONS, path, silent)
    assert world.asked == 1
    assert {k: a.prediction for k, a in again.items()} == {k: a.prediction for k, a in made.items()}


def test_a_line_of_something_else_is_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"key": "x", "answer": {"seconds": "soon"}}\n', encoding="utf-8")
    with pytest.raises(StorageError, match=r"a\.jsonl: line 1"):
        ask_all(model(Says(rich)), QUESTIONS, path, silent)


def test_another_model_goal_or_transition_is_another_question():
    case, other = find_cases([shop()])[0]
    one, two = model(Says(rich)), model(Says(rich), "two")
    told = Measured(name="m", world=one.world, checksum="one", shows_goal=True)
    keys = {
        answer_key(one, case.checksum(), "step"), answer_key(two, case.checksum(), "step"),
        answer_key(told, case.checksum(), "step"), answer_key(one, other.checksum(), "step"),
        answer_key(one, case.checksum(), "goal x"),
    }  # fmt: skip
    assert len(keys) == 5
    assert question(case, show_goal=False).goal is None
    assert question(case, show_goal=True).goal == "Find a chair."


KILLED = """
import sys, time
sys.path[:0] = ["src", "."]
from pathlib import Path
from tests.bench.worlds.models import Says
from tests.bench.worlds.test_answers import QUESTIONS, model, rich
from dynaweb.bench.worlds.answers import ask_all
from dynaweb.runs.progress import silent

def slow(q):
    time.sleep(0.05)
    return rich(q)

ask_all(model(Says(slow)), QUESTIONS, Path(sys.argv[1]), silent)
"""


def test_a_killed_process_loses_at_most_a_batch(tmp_path):
    path = tmp_path / "a.jsonl"
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(path)])
    deadline = time.monotonic() + 100
    while not (path.exists() and path.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    kept = len(read_answers(path))
    assert kept % BATCH == 0 and 0 < kept < 40
    world = Says(rich)
    found = ask_all(model(world), QUESTIONS, path, silent)
    assert world.asked == 40 - kept and len(found) == 40


def test_what_the_model_could_not_be_asked_is_not_kept_and_asked_again(tmp_path):
    path = tmp_path / "a.jsonl"
    broken = {"3", "7"}

    def flaky(q):
        lost = q.action.bid in broken
        return said(HOME, status=PredictionStatus.INVALID, unanswered=True) if lost else rich(q)

    first = ask_all(model(Says(flaky)), QUESTIONS, path, silent)
    assert sum(a.prediction.unanswered for a in first.values()) == 2
    assert len(read_answers(path)) == 38
    broken.clear()
    again = Says(flaky)
    found = ask_all(model(again), QUESTIONS, path, silent)
    assert again.asked == 2 and not any(a.prediction.unanswered for a in found.values())


def test_a_model_that_never_answers_ends_the_measurement_after_a_batch(tmp_path):
    silence = Says(lambda q: said(HOME, status=PredictionStatus.INVALID, unanswered=True))
    with pytest.raises(SamplerError, match="no answer to 16 question"):
        ask_all(model(silence), QUESTIONS, tmp_path / "a.jsonl", silent)
    assert silence.asked == BATCH
