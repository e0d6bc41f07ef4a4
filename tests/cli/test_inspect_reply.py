"""`dynaweb inspect` on replies of models."""

import json

import pytest

from dynaweb.cli.main import main

ECHO = "OBSERVATION:\n[4] link 'Home'\nURL: http://a\nPREVIOUS ACTION: None\n\n"
SUMMARY = "In summary, the next action I will perform is "


@pytest.fixture
def reply(tmp_path):
    def write(text: str) -> str:
        path = tmp_path / "reply.txt"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_reply_is_told_from_a_tree_and_its_actions_are_shown(reply, capsys):
    assert main(["inspect", reply(f"I see.\n{SUMMARY}```type [5] [a b] [1]```")]) == 0
    shown = capsys.readouterr().out
    assert "fill('5', 'a b')" in shown and "press('5', 'Enter')" in shown
    assert "type [5] [a b] [1]" in shown and "lenient" in shown and "2 actions" in shown


def test_a_reply_that_repeats_the_page_is_a_reply(reply, capsys):
    assert main(["inspect", reply(f"{ECHO}{SUMMARY}```click [4]```"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["kind"], facts["actions"]) == ("reply", ["click('4')"])
    assert facts["webarena"] == ["click [4]"] and facts["fault"] is None


def test_a_refusal_says_why(reply, capsys):
    path = reply("I would click something.")
    assert main(["inspect", path]) == 2
    assert "--as reply" in capsys.readouterr().err
    assert main(["inspect", path, "--as", "reply"]) == 0
    assert "no_action" in capsys.readouterr().out


def test_the_strict_grammar_is_not_odd(reply, capsys):
    assert main(["inspect", reply("noop(500.0)\n"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["odd"], facts["webarena"]) == ([], None)
