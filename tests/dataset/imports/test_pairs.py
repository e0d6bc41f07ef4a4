"""Single transitions: other tools' `obs`, `action`, `next_obs`, and our own Transition records."""

import json
from pathlib import Path

import pytest

from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.run import read_trajectories
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.action import Click, Fill, Press
from dynaweb.records.codec import dump
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.trajectory import Fault, Outcome, Reason, Transition, World

PAGE = "RootWebArea 'Shop'\n\t[12] textbox 'Search'\n\t[13] button 'Go'"
PAIR = {"obs": PAGE, "action": "click('13')", "next_obs": "RootWebArea 'Tea'", "url": "http://a/", "next_url": "http://b/", "goal": "Buy"}  # fmt: skip


def read(path):
    tally = Tally()
    return list(read_trajectories(path, detect(path), Provenance(), tally)), tally


def put(tmp_path, text, name="t.json"):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(("indent", "kind"), [(1, Format.TRANSITIONS), (None, Format.TRANSITION_LINES)])  # fmt: skip
def test_a_pair_is_an_attempt_of_one_step(tmp_path, indent, kind):
    path = put(tmp_path, json.dumps(PAIR, indent=indent) + "\n")
    (t,), tally = read(path)
    (only,) = t.transitions()
    assert detect(path) is kind
    assert (only.action, only.observation.url, only.next_observation.tree) == (Click("13"), "http://a/", "RootWebArea 'Tea'")  # fmt: skip
    assert (t.outcome, t.reason, t.goal, tally.noted) == (Outcome.UNKNOWN, Reason.RECORDING_STOPPED, "Buy", {})  # fmt: skip


def test_what_stands_beside_a_pair_is_read_and_the_rest_is_named(tmp_path):
    tabs = "Tab 0\n  Title: A\n  URL: http://a/\nTab 1 (active tab)\n  Title: B\n  URL: http://b/"
    ended = {**PAIR, "next_url": "", "next_tabs": tabs, "reward": 1.0, "terminated": True, "error": "Timeout", "colour": "red"}  # fmt: skip
    (t,), tally = read(put(tmp_path, json.dumps(ended)))
    assert t.final is not None and t.final.tabs == (Tab(url="http://a/", title="A"), Tab(url="http://b/", title="B"))  # fmt: skip
    assert (t.final.active_tab, t.final.url, t.final.last_action_error) == (1, "http://b/", "Timeout")  # fmt: skip
    assert (t.outcome, t.reason, t.steps[0].fault) == (Outcome.SUCCESS, Reason.TASK_ENDED, None)
    assert tally.noted == {"transition field 'colour' is not read": 1}


@pytest.mark.parametrize(("said", "odd"), [("A menu opened.", 1), ("Nothing changed.", 0)])
def test_a_change_that_no_page_shows_is_odd(tmp_path, said, odd):
    same = {**PAIR, "next_obs": PAGE, "next_url": "http://a/", "change_description": said, "error": "No element"}  # fmt: skip
    (t,), tally = read(put(tmp_path, json.dumps(same)))
    assert tally.noted.get("pages are equal, but a change is described", 0) == odd
    assert (t.detail, t.steps[0].fault) == (said, Fault.MISSING_ELEMENT)


def test_pages_of_any_dialect_and_typing_with_enter(tmp_path):
    pair = {"obs": "[1] RootWebArea 'S' focused: True\n\t[4] textbox 'Q'", "action": "type [4] [tea] [1]", "next_obs": "[1] RootWebArea 'T'"}  # fmt: skip
    (t,), _ = read(put(tmp_path, json.dumps(pair)))
    assert [s.action for s in t.steps] == [Fill("4", "tea"), Press("4", "Enter")]
    assert t.steps[1].observation.tree.endswith("[4] textbox 'Q', value='tea'")


def test_a_wrong_type_and_a_torn_line_are_counted(tmp_path):
    text = json.dumps(PAIR) + "\n" + json.dumps({**PAIR, "obs": 5}) + "\n" + json.dumps(PAIR)[:40]
    found, tally = read(put(tmp_path, text))
    assert len(found) == 1
    assert tally.dropped == {"transition: obs: input should be a valid string": 1, "line is torn": 1}  # fmt: skip


def test_our_own_transition_records_count_as_dreams(tmp_path):
    page = Observation(url="u", title="", tree=PAGE)
    t = Transition(observation=page, action=Click("13"), next_observation=page, terminal=True)
    (made,), _ = read(put(tmp_path, dump(t) + "\n"))
    assert made.transitions() == (t,)
    assert (made.world, made.reason) == (World.DREAM, Reason.TASK_ENDED)


def test_every_real_pair_is_read(request):
    folder = request.config.getoption("--cases")
    if folder is None:
        pytest.skip("needs --cases DIR")
    files = sorted((Path(folder) / "transitions").glob("*.json"))
    assert files
    words = 0
    for file in files:
        (t,), tally = read(file)
        assert tally.dropped == {} and t.final is not None, file.name
        words += not t.transitions()
    # one holds a click whose element is no bid
    assert words <= 1
