"""Real pages and transitions of other projects: `pytest tests/axtree --cases DIR`.

`DIR/axtrees/*.txt` are accessibility trees, `DIR/transitions/*.json` objects with `obs`, `action` and
`next_obs`. They stay outside the repository.
"""

import json
from pathlib import Path

import pytest

from dynaweb.axtree.apply import apply
from dynaweb.axtree.diff import diff, without_renumbering
from dynaweb.axtree.same import same_page
from dynaweb.axtree.text import parse_delta, print_delta
from dynaweb.axtree.tree import read_tree, render_tree
from dynaweb.errors import ActionError
from dynaweb.records.action import Action, Noop, parse_action
from dynaweb.records.observation import Observation


@pytest.fixture
def cases(request) -> Path:
    folder = request.config.getoption("--cases")
    if folder is None:
        pytest.skip("needs --cases DIR")
    return Path(folder)


def test_every_real_tree_is_read_and_written_byte_for_byte(cases):
    files = sorted((cases / "axtrees").glob("*.txt"))
    assert files
    for file in files:
        text = file.read_bytes().decode()
        assert render_tree(read_tree(text)) == text, file.name


def test_our_dialect_explains_nearly_every_line_of_browsergym_trees(cases):
    lines = [
        node
        for file in (cases / "axtrees").glob("bg_*.txt")
        for node in read_tree(file.read_bytes().decode())
    ]
    assert sum(1 for n in lines if n.role) / len(lines) > 0.99


def test_every_real_transition_is_exact(cases):
    files = sorted((cases / "transitions").glob("*.json"))
    assert files
    for file in files:
        raw = json.loads(file.read_text(encoding="utf-8"))
        before = Observation(url=raw.get("url") or "", title="", tree=raw["obs"])
        after = Observation(url=raw.get("next_url") or "", title="", tree=raw["next_obs"])
        action = _action(raw["action"])
        delta = diff(before, action, after)
        assert apply(before, action, delta) == after, file.name
        assert parse_delta(print_delta(delta)) == delta, file.name
        learned = apply(before, action, without_renumbering(delta))
        assert same_page(learned, after) or _repeats_a_bid(after), file.name


def _action(text: str) -> Action:
    """The action where its grammar is ours; what was done matters only for references."""
    try:
        return parse_action(text)
    except ActionError:
        return Noop()


def _repeats_a_bid(page: Observation) -> bool:
    bids = [n.bid for n in read_tree(page.tree) if n.bid is not None]
    return len(bids) != len(set(bids))
