"""State changes on transitions, measured: the figures reconcile, and the command says them."""

import asyncio
import json
import re

from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.toy import solution
from tests.rollout.test_episode import Scripted, attempt

from dynaweb.cli.main import main
from dynaweb.dataset.changes import measure_changes, rough_tokens
from dynaweb.records.codec import dump


def test_toy_transitions_are_exact_and_counted(tmp_path, capsys):
    made = asyncio.run(attempt(Scripted([*solution("toy-check", 3)])))
    report = measure_changes([made, made])
    assert report.transitions == 2 * len(made.transitions()) > 0
    assert report.exact == report.reparsed == report.learned == report.transitions
    assert report.failed == [] and sum(c.count for c in report.kinds.values()) == report.transitions
    file = tmp_path / "t.jsonl"
    file.write_text(dump(made) + "\n", "utf-8")
    assert main(["changes", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exact"] == len(made.transitions())


def test_rough_tokens_count_words_and_signs():
    assert rough_tokens("[12] button 'Go'") == 3 + 1 + 1 + 1 + 3


@given(st.text(max_size=60))
def test_rough_tokens_are_words_and_single_signs(text):
    assert rough_tokens(text) == len(re.findall(r"\w+|[^\w\s]|\s", text))
    assert rough_tokens("[12] link 'Über_1'\n") == 10
