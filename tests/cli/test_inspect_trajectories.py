"""`dynaweb inspect` on trajectories and transitions."""

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.records.test_codec import TRAJECTORY

from dynaweb.cli.main import main
from dynaweb.records.action import Click, Fill
from dynaweb.records.codec import dump
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step, Transition

BEFORE = "RootWebArea 'Shop'\n\t[4] textbox 'Search'\n\t[5] button 'Go'"
AFTER = "RootWebArea 'Shop'\n\t[4] textbox 'Search', value='tea'\n\t[5] button 'Go'\n\tStaticText '1 hit'"
HOSTILE = "RootWebArea '[bold red]x[/] \x1b[2J\u202e'\n\t[5] button '[link=http://evil]Go[/link]'"


def page(tree, **more):
    return Observation(url="http://shop.test/", title="Shop", tree=tree, **more)


ONE = replace(
    TRAJECTORY,
    trajectory_id="a",
    steps=(Step(observation=page(BEFORE), thought="type", action=Fill("4", "tea")),
           Step(observation=page(AFTER), action=Click("99"))),
    final=page(AFTER),
)  # fmt: skip
PAIR = {"obs": BEFORE, "action": "fill('4', 'tea')", "next_obs": AFTER}


@pytest.fixture
def said(capsys):
    def run(*words, code=0):
        assert main(["inspect", *map(str, words)]) == code
        out, err = capsys.readouterr()
        return out if code == 0 else err

    return run


def put(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def test_a_file_is_counted_and_what_is_odd_is_named(tmp_path, said):
    bad = '{"schema_version":2,"record":"Trajectory","colour":1}'
    file = put(tmp_path / "t.jsonl", dump(ONE), bad, dump(replace(ONE, trajectory_id="b")), '{"torn')  # fmt: skip
    out = said(file)
    assert "trajectories  2 in format dynaweb" in out and "4: 2 to 2 each, median 2" in out
    assert "success (task_ended): 2" in out and "2  action names an element that its page does not have" in out  # fmt: skip
    assert "Trajectory has no field 'colour'" in out and "line is not JSON" in out
    facts = json.loads(said(file, "--json"))
    assert (facts["kind"], facts["trajectories"], facts["transitions"], facts["unchanged"]) == ("trajectories", 2, 4, 2)  # fmt: skip
    assert facts["left_out"] == {"record is not a trajectory of ours": 1, "line is not JSON": 1}


def test_gzip_and_other_tools_files_are_read_too(tmp_path, said):
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress(f"{dump(ONE)}\n".encode() * 2))
    assert "trajectory id stands twice" in said(packed)
    steps = [{"obs": {"axtree_txt": BEFORE}, "action": "click('5')", "reward": 0}]
    assert "1 in format browsergym" in said(put(tmp_path / "s.json", json.dumps(steps)))


def test_one_trajectory_is_shown_step_by_step(tmp_path, said):
    other = replace(ONE, trajectory_id="b", goal="Other")
    file = put(tmp_path / "t.jsonl", dump(ONE), dump(other))
    out = said(file, "--show", "-1")
    assert "trajectory b" in out and "goal      Other" in out
    assert "fill('4', 'tea') textbox 'Search'" in out and "New: StaticText '1 hit'." in out
    assert "Nothing changed." in out and "outcome   success (task_ended)" in out
    facts = json.loads(said(file, "--show", "0", "--json"))
    assert (facts["trajectory_id"], facts["steps"][1]["change"]["kind"]) == ("a", "none")
    assert "trajectory a" in said(put(tmp_path / "one.jsonl", dump(ONE)))


def test_a_step_is_a_transition_in_three_forms(tmp_path, said):
    file = put(tmp_path / "t.jsonl", dump(ONE))
    out = said(file, "--step", "1")
    assert "-   [4] textbox 'Search'\n+   [4] textbox 'Search', value='tea'\n" in out
    assert "  [4] value='$t'\n" in out and "[4] textbox 'Search' has value 'tea'." in out
    assert "change    local, " in out and "gives the next page byte for byte" in out
    facts = json.loads(said(file, "--step", "1", "--json"))
    change = facts["change"]
    assert (facts["element"], change["exact"], change["text"]) == ("textbox 'Search'", True, "[4] value='$t'\n+[5]\n\tStaticText '1 hit'")  # fmt: skip
    assert change["ratio"] == round(change["tokens"] / change["page_tokens"], 4)
    assert [d["mark"] for d in facts["diff"]] == [" ", "-", "+", " ", "+"]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_file_of_one_transition_shows_its_change(tmp_path, said, indent):
    out = said(put(tmp_path / "t.json", json.dumps(PAIR, indent=indent)))
    assert "has value 'tea'." in out and "endings       unknown (recording_stopped): 1" in out
    record = Transition(observation=page(BEFORE), action=Fill("4", "tea"), next_observation=page(AFTER))  # fmt: skip
    own = put(tmp_path / "r.jsonl", dump(record))
    assert "has value 'tea'." in said(own)
    only = json.loads(said(own, "--json"))["only"]
    assert (only["kind"], only["change"]["exact"]) == ("transition", True)


@pytest.mark.parametrize("words", [(), ("--show", "0"), ("--step", "1"), ("--json",)])
def test_pages_neither_steer_the_terminal_nor_write_markup(tmp_path, said, words):
    t = replace(ONE, goal=HOSTILE, steps=(Step(observation=page(BEFORE), thought=HOSTILE, action=Click("5")),), final=page(HOSTILE))  # fmt: skip
    out = said(put(tmp_path / "t.jsonl", dump(t)), *words)
    assert not {c for c in out if not c.isprintable()} - {"\n"}
    assert "[bold red]x[/]" in out


def run_in(tmp_path, file, **env):
    code = "import sys; from dynaweb.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "inspect", str(file)]
    base = {"PATH": "/usr/bin", "PYTHONIOENCODING": "utf-8", "TERM": "xterm"}
    return subprocess.run(words, capture_output=True, env=base | env, timeout=60, check=True).stdout


def test_colour_is_for_terminals_and_can_be_turned_off(tmp_path):
    file = put(tmp_path / "t.json", json.dumps(PAIR))
    assert b"\x1b" not in run_in(tmp_path, file)
    assert b"\x1b[32m" in run_in(tmp_path, file, FORCE_COLOR="1")
    assert b"\x1b[3" not in run_in(tmp_path, file, FORCE_COLOR="1", NO_COLOR="1")
    assert "é".encode() not in run_in(tmp_path, put(tmp_path / "u.json", json.dumps({**PAIR, "goal": "é"})), PYTHONIOENCODING="ascii")  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--show", "7"), "has no trajectory 7, counted from 0"),
        (("--show", "-3"), "has no trajectory -3"),
        (("--step", "9"), "has 2 steps, counted from 1: there is no step 9"),
        (("--as", "tree", "--step", "1"), "--show and --step are for trajectories"),
    ],
)
def test_what_is_not_there_is_said(tmp_path, said, words, says):
    err = said(put(tmp_path / "t.jsonl", dump(ONE)), *words, code=2)
    assert says in err and len(err.splitlines()) == 1


def test_steps_without_action_or_next_page_are_no_transition(tmp_path, said):
    t = replace(ONE, steps=(Step(observation=page(BEFORE)), Step(observation=page(BEFORE), action=Click("5"))), final=None)  # fmt: skip
    file = put(tmp_path / "t.jsonl", dump(t))
    assert "has no action" in said(file, "--step", "1", code=2)
    assert "the page after step 2" in said(file, "--step", "2", code=2)
    assert "unknown: not both pages are recorded" in said(file)


def test_json_of_no_known_format_is_described(tmp_path, said):
    file = put(tmp_path / "x.jsonl", '{"step": "zero", "reward": 1}', "[1]", '{"step": 2}', '{"st')
    out = said(file)
    assert "rows      2 JSON objects of no format" in out and "odd: several types" in out
    assert "row is not a JSON object" in out and "line is not JSON" in out
    facts = json.loads(said(file, "--json"))
    assert facts["fields"] == {"step": {"text": 1, "number": 1}, "reward": {"number": 1}}
    assert "rows      1 JSON objects" in said(put(tmp_path / "d.json", '{\n "a": 1\n}'))


def test_a_reply_that_begins_like_json_is_a_reply(tmp_path, said):
    file = put(tmp_path / "r.txt", '{"plan": "press Go"}\n```click(\'5\')```')
    assert "action    click('5')" in said(file)
    assert "rows      1 JSON" in said(file, "--as", "rows") and "left out" in said(
        file, "--as", "rows"
    )


def test_lists_of_json_and_markup_are_told_from_replies_that_quote_them(tmp_path, said):
    rows = [{"input": BEFORE, "output": "```click [5]```"}]
    out = said(put(tmp_path / "sft.json", json.dumps(rows, indent=1)))
    assert "rows      1 JSON objects" in out and "why       " in out and "no format we know" in out
    render = "<html><body><h2>New Page</h2>\n<div class='state_obv'><pre>[1] RootWebArea 'S'</pre><div>\n<div class='parsed_action' style='x'><pre>stop [a]</pre></div></div>"
    assert "1 in format webarena-html" in said(put(tmp_path / "render_1.html", render))
    summary = put(tmp_path / "summary_info.json", json.dumps({"n_steps": 1, "cum_reward": 0}))
    assert "export_browsergym" in said(summary)


def test_pickles_and_folders_are_refused(tmp_path, said):
    pickle = tmp_path / "step_0.pkl.gz"
    pickle.write_bytes(gzip.compress(b"\x80\x04."))
    for refused in (pickle, tmp_path):
        assert "export_browsergym" in said(refused, code=2)
    assert "no file" in said(tmp_path / "none", code=2)


def test_every_real_case_is_described_or_refused_in_one_line(request, capsys):
    folder = request.config.getoption("--cases")
    if folder is None:
        pytest.skip("needs --cases DIR")
    files = [f for name in ("transitions", "trajectories", "bug_inputs") for f in sorted((Path(folder) / name).iterdir())]  # fmt: skip
    assert files
    for file in files:
        code = main(["inspect", str(file)])
        out, err = capsys.readouterr()
        assert "NOT" not in out.replace("DO NOT", ""), file.name
        if code == 0:
            assert out and not err and not {c for c in out if not c.isprintable()} - {"\n"}, file.name  # fmt: skip
        else:
            assert code == 2 and len(err.splitlines()) == 1 and file.name in err, file.name
