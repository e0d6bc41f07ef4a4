"""Real replies of other projects' models: `pytest tests/agent --cases DIR`.

Each line of `DIR/completions.jsonl` has a reply (`raw`) and the action that a careful reader takes from
it (`expected_action`, null for none; `also_accept`). They stay outside the repository.
"""

import json
from pathlib import Path

import pytest

from dynaweb.agent.reply import read_reply
from dynaweb.errors import ActionError
from dynaweb.records.action import Action, parse_action
from dynaweb.records.webarena import read_webarena
from dynaweb.records.webvoyager import read_webvoyager

AGREEMENT = 0.95


@pytest.fixture
def completions(request) -> list[dict]:
    folder = request.config.getoption("--cases")
    if folder is None:
        pytest.skip("needs --cases DIR")
    with (Path(folder) / "completions.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_the_lenient_reader_agrees_with_a_careful_one(completions):
    misses = {c["id"]: c["expected_action"] for c in completions if _read(c) not in _wanted(c)}
    share = 1 - len(misses) / len(completions)
    assert share >= AGREEMENT, f"{share:.1%} of {len(completions)}: {misses}"


def test_no_action_is_invented(completions):
    none = [c for c in completions if c["expected_action"] is None]
    assert none
    assert {c["id"]: _read(c) for c in none if _read(c)} == {}


def _read(completion: dict) -> tuple[Action, ...]:
    return read_reply(completion["raw"]).actions


def _wanted(completion: dict) -> list[tuple[Action, ...]]:
    if completion["expected_action"] is None:
        return [()]
    return [
        _strictly(text)
        for text in (completion["expected_action"], *completion.get("also_accept", []))
    ]


def _strictly(text: str) -> tuple[Action, ...]:
    """The action, read by the strict parser of its grammar; a name that is no action here agrees with nothing."""
    for read in (lambda t: (parse_action(t),), read_webarena, read_webvoyager):
        try:
            return read(text)
        except ActionError:
            continue
    if text[0] == text[-1] == '"':
        return _strictly(text[1:-1])
    lines = text.splitlines()
    return tuple(a for line in lines for a in _strictly(line)) if len(lines) > 1 else (text,)
