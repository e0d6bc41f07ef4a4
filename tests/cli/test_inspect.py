"""`dynaweb inspect`: what a tree is and what is odd about it."""

import json

import pytest

from dynaweb.cli.main import main

TREE = (
    "Tab 0 (current): Shop\n\n[1] RootWebArea 'Shop' focused: True\n"
    "\t[188] link 'Cart'\n\t[188] link 'Help'\n\t[9] StaticText'\\x1b[31m'\n\t[3"
)


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree.txt"
    path.write_text(TREE, encoding="utf-8")
    return path


def test_says_what_a_tree_is_and_what_is_odd(tree, capsys):
    assert main(["inspect", str(tree)]) == 0
    said = capsys.readouterr().out
    assert "tree      webarena, " in said
    assert "elements  4, 4 with an id, 1 levels" in said
    assert "written   back in its own dialect it is the same, byte for byte" in said
    assert "tab 0 (active)  Shop" in said
    assert "line 6, irregular: \"[9] StaticText'" in said
    assert "line 7, unplaced: '[3': cut after the id" in said
    assert "id '188' stands on 2 lines: 4, 5" in said
    assert "  [188] link 'Cart'\n" in said
    assert "\x1b" not in said


def test_json_has_the_same_facts(tree, capsys):
    assert main(["inspect", str(tree), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["dialect"], facts["exact"], facts["elements"]) == ("webarena", True, 4)
    assert facts["repeated_ids"] == {"188": [4, 5]}
    assert [o["line"] for o in facts["odd"]] == [6, 7]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b" \n\n", "no tree: it is empty"),
        (b"Hello world", "no tree: no line looks like an element"),
        (b"", "no tree"),
        (b"RootWebArea '\xff'", "is not UTF-8: byte 13 is 0xff"),
    ],
)
def test_what_it_cannot_read_is_said(content, says, tmp_path, capsys):
    path = tmp_path / "x.txt"
    path.write_bytes(content)
    assert main(["inspect", str(path)]) == 2
    assert says in capsys.readouterr().err
    assert main(["inspect", str(tmp_path / "none")]) == 2
