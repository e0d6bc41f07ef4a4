"""Real trees of other projects: `pytest tests/axtree/dialects --cases DIR`, with `DIR/axtrees/index.csv`.

The index names each file's dialect; all parse, at least 95 % come back exactly, and what is odd is named.
"""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from dynaweb.axtree.dialects.common import common_tree
from dynaweb.axtree.dialects.document import Dialect
from dynaweb.axtree.dialects.read import read_document, render_document
from dynaweb.axtree.tree import read_tree, render_tree

UNKNOWABLE = frozenset({"wa_tagrole_blank.txt"})
"""No line of it tells its dialect: a header and `[?]`."""


@pytest.fixture
def cases(request) -> Path:
    folder = request.config.getoption("--cases")
    if folder is None:
        pytest.skip("needs --cases DIR")
    return Path(folder)


def _trees(cases):
    with (cases / "axtrees" / "index.csv").open(encoding="utf-8", newline="") as index:
        rows = list(csv.DictReader(index))
    assert rows
    return [(r, (cases / "axtrees" / r["file"]).read_bytes().decode()) for r in rows]


def _dialect(row):
    return Dialect(row["dialect"].removeprefix("silverstream_"))


def test_every_real_tree_is_read_and_nearly_all_come_back(cases):
    found = _trees(cases)
    exact = 0
    for row, text in found:
        document = read_document(text)
        if row["file"] not in UNKNOWABLE:
            assert document.dialect is _dialect(row), row["file"]
        exact += render_document(document) == text
        assert all(odd.reason for odd in document.oddities)
    assert exact / len(found) >= 0.95


def test_nearly_every_real_line_is_an_element_spelt_as_its_dialect_spells_it(cases):
    lines = Counter()
    for _, text in _trees(cases):
        document = read_document(text)
        lines["all"] += len(document.nodes)
        lines["odd"] += len(document.oddities)
    assert lines["odd"] / lines["all"] < 0.005


def test_every_id_of_a_real_tree_is_read(cases):
    for row, text in _trees(cases):
        if row["dialect"].startswith(("browsergym", "silverstream", "playwright", "webarena")):
            document = read_document(text)
            bids = sum(1 for n in document.nodes if n.bid is not None)
            cut = sum(1 for odd in document.unplaced if odd.text.startswith("["))
            assert int(row["nodes_with_id"]) - cut <= bids <= int(row["nodes_with_id"]), row["file"]


def test_real_trees_are_read_back_in_our_own_terms(cases):
    for row, text in _trees(cases):
        document = read_document(text)
        if not document.unplaced:
            tree = common_tree(document)
            assert read_tree(render_tree(tree)) == tree, row["file"]


def test_trees_of_real_transitions_come_back(cases):
    files = sorted((cases / "transitions").glob("*.json"))
    assert files
    for file in files:
        raw = json.loads(file.read_text(encoding="utf-8"))
        for text in (raw["obs"], raw["next_obs"]):
            assert render_document(read_document(text)) == text, file.name
