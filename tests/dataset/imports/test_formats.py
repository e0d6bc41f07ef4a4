"""Other tools' files: one made example of each format, told by its contents, and the real ones where they are given.

`pytest --cases DIR` reads `DIR/trajectories/*`.
"""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from tests.records.strategies import trajectories

from dynaweb.axtree.tree import read_tree
from dynaweb.dataset.exports.formats import ExportFormat
from dynaweb.dataset.exports.run import ExportWish, export
from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.run import read_trajectories
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.surrogates import clean_json
from dynaweb.errors import DynawebError, UserError
from dynaweb.records.action import Click, Fill, KeyboardPress, NewTab, Press, Scroll, SendMsgToUser
from dynaweb.records.codec import dump, load_as
from dynaweb.records.trajectory import Behaviour, Outcome, Reason, Trajectory

TREE = "RootWebArea 'Shop', focused\n\t[12] textbox 'Search'\n\t[13] button 'Go'"
WA_TREE = "Tab 0 (current): Shop\n\n[1] RootWebArea 'Shop' focused: True\n\t[12] textbox 'Search'"


def read(path, known=None, **options):
    tally = Tally()
    found = read_trajectories(path, detect(path), known or Provenance(), tally, **options)
    return list(found), tally


def lines(tmp_path, *values):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(v) + "\n" for v in values), "utf-8")
    return path


def nnetnav(task, number, call, past):
    asked = f"OBSERVATION:\n{WA_TREE}\nURL: http://shop.test\nOBJECTIVE: Buy tea\nPREVIOUS ACTIONS:\n{past}"
    answer = f"Let's think step-by-step. Because {number}. In summary, the next action I will perform is ```{call}```"
    messages = [{"role": "system", "content": "..."}, {"role": "user", "content": asked}, {"role": "assistant", "content": answer}]  # fmt: skip
    return {"dataset": "nnetnav-wa", "id": task, "task_name": task, "prompt": "", "output": "", "messages": messages, "n_tokens": 9}  # fmt: skip


def test_nnetnav_rows_become_attempts(tmp_path):
    path = lines(
        tmp_path,
        nnetnav("t1", 0, "type [12] [tea] [1]", "1: None"),
        nnetnav("t1", 1, "stop [done]", "1: None\n2: typed"),
        nnetnav("t1", 0, "click [13]", "1: None"),
        nnetnav("t2", 0, "go there", "1: None"),
    )
    (one, again, other), tally = read(path, Provenance(behaviour=Behaviour.EXPERT))
    assert [s.action for s in one.steps] == [Fill("12", "tea"), Press("12", "Enter"), SendMsgToUser("done")]  # fmt: skip
    assert (one.goal, one.task, one.outcome) == ("Buy tea", "nnetnav.t1", Outcome.SUCCESS)
    assert one.steps[0].thought == "Let's think step-by-step. Because 0."
    assert (
        one.steps[0].observation.tree
        == "[1] RootWebArea 'Shop', focused=True\n\t[12] textbox 'Search'"
    )
    assert one.steps[1].observation.tree.endswith("[12] textbox 'Search', value='tea'")
    assert [s.action for s in again.steps] == [Click("13")]
    assert (again.outcome, other.steps[0].action) == (Outcome.UNKNOWN, None)
    assert (one.reason, again.reason) == (Reason.ANSWERED, Reason.RECORDING_STOPPED)
    assert one.behaviour is Behaviour.EXPERT and tally.dropped == {}


def test_shuffled_nnetnav_rows_are_put_together_by_their_numbers_and_pages_may_be_browsergyms(
    tmp_path,
):
    """As in the published files: `id` is the task and the step's number, and pages are of two dialects."""
    seen = "1: None"
    own = [
        {**nnetnav("t_1", 0, "stop [done]", seen), "id": "t_1_2"},
        {**nnetnav("t_2", 0, "click [13]", seen), "id": "t_2_4"},
        {**nnetnav("t_1", 0, "click [12]", seen), "id": "t_1_1"},
        {**nnetnav("t_2", 0, "stop [x]", seen), "id": "t_2_6"},
        {**nnetnav("t_1", 0, "click [13]", seen), "id": "t_1_0"},
        {**nnetnav("t_3", 0, "click [13]", seen), "id": "other"},
    ]
    browsergym = "OBSERVATION:\nRootWebArea 'Shop', focused, url='http://shop.test/'\n\t[13] button 'Go', clickable, visible"
    asked = own[4]["messages"][1]["content"].replace(f"OBSERVATION:\n{WA_TREE}", browsergym)
    own[4]["messages"][1] = {"role": "user", "content": asked}
    (whole, cut, end), tally = read(lines(tmp_path, *own))
    assert [s.action for s in whole.steps] == [Click("13"), Click("12"), SendMsgToUser("done")]
    assert whole.steps[0].observation.tree.endswith("[13] button 'Go', clickable, visible")
    assert whole.steps[1].observation.tree.startswith("[1] RootWebArea 'Shop', focused=True")
    assert (whole.outcome, cut.outcome, end.outcome) == (Outcome.SUCCESS, Outcome.UNKNOWN, Outcome.SUCCESS)  # fmt: skip
    assert [s.action for s in (*cut.steps, *end.steps)] == [Click("13"), SendMsgToUser("x")]
    assert tally.noted == {"steps of an attempt are missing: what follows is one of its own": 1}
    assert tally.dropped == {"row is not numbered in a file of numbered rows": 1}


def test_nnetnav_rows_without_messages_are_read_from_prompt_and_output(tmp_path):
    row = nnetnav("t", 0, "stop [x]", "1: None")
    asked, answer = (m["content"] for m in row["messages"][1:])
    prompt = f"<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n{asked}\n<|eot_id|>"
    output = f"<|start_header_id|>assistant<|end_header_id|>\n{answer}\n<|eot_id|>"
    (t,), _ = read(lines(tmp_path, {**row, "prompt": prompt, "output": output, "messages": []}))
    assert t.steps[0].action == SendMsgToUser("x")


def gobrowse(number, step, **changes):
    return {
        "step_data": {"action": "click('13')", "parsed_action": "click('13')", "thought": "so", "misc": {}, "step_number": step,
                      "obs": {"axtree_txt": TREE, "open_pages_urls": ["http://shop.test"], "active_page_index": [0], "last_action_error": ""}},
        "traj_data": {"goal": "Buy", "reward": 1.0, "success": True, "response": "", "misc": {}, "traj_num": number, "traj_length": 2},
        "node_data": {"node_url": "http://shop.test"}, "graph_data": {"domain": "shopping", "root_url": "http://shop.test"},
    } | changes  # fmt: skip


def test_gobrowse_rows_become_attempts_and_a_gap_ends_one(tmp_path):
    path = lines(tmp_path, gobrowse(1, 0), gobrowse(1, 1), gobrowse(2, 0), gobrowse(2, 2))
    (whole, cut), tally = read(path)
    assert (len(whole.steps), whole.outcome, whole.steps[0].observation.url) == (2, Outcome.SUCCESS, "http://shop.test")  # fmt: skip
    assert (len(cut.steps), cut.outcome) == (1, Outcome.UNKNOWN)
    assert tally.dropped == {"step out of order, and what follows it": 1}


def step(call, tree=TREE, **more):
    obs = {"goal": "Close", "url": "", "axtree_txt": tree, "last_action_error": "", "open_pages_titles": ["Shop!"], "active_page_index": [0]}  # fmt: skip
    return {"obs": obs, "action": call, "reward": 0, "terminated": False, "truncated": False, "agent_info": {"think": "t"}} | more  # fmt: skip


def test_browsergym_steps_are_read_and_its_pickles_are_not(tmp_path):
    rows = [step("click('13')"), step(None, reward=1, terminated=True)]
    path = lines(tmp_path, {"task_name": "miniwob.x", "task_seed": 3, "steps": rows})
    (t,), tally = read(path)
    assert [s.action for s in t.steps] == [Click("13")] and t.final is not None
    assert (t.task, t.seed, t.outcome, t.raw_reward, tally.noted) == ("miniwob.x", 3, Outcome.SUCCESS, 1.0, {})  # fmt: skip
    assert t.final.title == "Shop!"
    folder = tmp_path / "exp"
    folder.mkdir()
    (folder / "step_0.pkl.gz").write_bytes(gzip.compress(b"\x80\x04."))
    for refused in (folder, folder / "step_0.pkl.gz"):
        with pytest.raises(UserError, match="export_browsergym"):
            detect(refused)
    assert (Path(__file__).parents[3] / "scripts" / "export_browsergym.py").is_file()


def render(*pages):
    head = "<html><body><pre>sites: ['map']\ntask_id: 8\nintent: Find it\nintent_template_id: 79\n</pre>"
    one = "<h2>New Page</h2>\n<h3 class='url'><a href={u}>URL: {u}</a></h3>\n<div class='state_obv'><pre>{t}</pre><div>\n<div class='predict_action'><div class='raw_parsed_prediction' style='x'><pre>{w}</pre></div><div class='action_object' style='x'><pre>{{<A: 1>}}</pre></div><div class='parsed_action' style='x'><pre>{a}</pre></div></div>\n"
    return head + "".join(one.format(u="http://m.test/#a", t=WA_TREE, w=w, a=a) for w, a in pages)


def test_webarena_renders_hold_what_was_executed(tmp_path):
    path = tmp_path / "render_8.html"
    words = "I do </pre> that <b>"
    path.write_text(render((words, "click [12] where [12] is [textbox]"), ("x", "none"), ("y", "press ['Enter']"), ("z", "stop [it]")), "utf-8")  # fmt: skip
    (t,), _ = read(path)
    assert [s.action for s in t.steps] == [Click("12"), None, KeyboardPress("Enter"), SendMsgToUser("it")]  # fmt: skip
    assert (t.goal, t.task, t.seed, t.reason) == (
        "Find it",
        "webarena.template79",
        8,
        Reason.ANSWERED,
    )
    assert t.steps[0].thought == words and t.steps[0].observation.url == "http://m.test/#a"
    path.write_text(render(("w", "new_tab"), ("", "stop [Early stop: Failed 3 times]")), "utf-8")
    (t,), tally = read(path)
    assert [s.action for s in t.steps] == [NewTab()] and t.outcome is Outcome.FAILURE
    assert "harness" in next(iter(tally.noted))
    path.write_text(render(("w", "click [12]"), ("", "new_tab")), "utf-8")
    (t,), _ = read(path)
    assert (t.outcome, t.reason) == (Outcome.UNKNOWN, Reason.RECORDING_STOPPED)


def test_webvoyager_chats_keep_the_pages_they_have(tmp_path):
    path = tmp_path / "interact_messages.json"
    path.write_text(json.dumps([
        {"role": "system", "content": "Imagine"},
        {"role": "user", "content": "Now given a task: Find tea.  Please interact with https://t.test/ and get the answer.Observation: (Omitted in context.)"},
        {"role": "assistant", "content": "Thought: a\n\nAction: Type [3]; tea"},
        {"role": "user", "content": [{"type": "text", "text": "Observation: see\n[3]: <input> \"Search\";"}, {"type": "image_url", "image_url": {}}]},
        {"role": "assistant", "content": "Thought: b\n\nAction: ANSWER; tea"},
    ]), "utf-8")  # fmt: skip
    (t,), tally = read(path)
    assert [s.action for s in t.steps] == [
        Fill("3", "tea"),
        Press("3", "Enter"),
        SendMsgToUser("tea"),
    ]
    assert (t.goal, t.origin, t.outcome) == ("Find tea.", "https://t.test/", Outcome.UNKNOWN)
    assert [s.observation.tree for s in t.steps] == ["", "", "[3] input 'Search'"]
    assert tally.noted["page is not in the chat"] == 1


def test_atif_of_other_tools(tmp_path):
    document = {
        "schema_version": "ATIF-v1.6", "session_id": "s", "agent": {"name": "a", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Buy"},
            {"step_id": 2, "source": "agent", "message": "open", "tool_calls": [{"tool_call_id": "c", "function_name": "shell", "arguments": {"x": 1}}],
             "observation": {"results": [{"source_call_id": "c", "content": [{"type": "text", "text": TREE}]}]}},
            {"step_id": 3, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "d", "function_name": "click", "arguments": {"bid": "13"}}]},
            {"step_id": 9, "source": "agent", "message": "late"},
        ],
    }  # fmt: skip
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps(document, indent=2), "utf-8")
    (t,), tally = read(path)
    assert detect(path) is Format.ATIF and t.goal == "Buy"
    assert [s.action for s in t.steps] == [None, Click("13")]
    assert t.steps[1].observation.tree == TREE and "shell" in t.steps[0].thought
    assert tally.dropped == {"step_id does not count from 1": 1}


def test_atif_of_the_agent_data_protocol(tmp_path):
    """Pages beside the results, arguments as source text, an answer in tags: as its public samples are."""

    def shows(tree, url=""):
        web = {"html": None, "axtree": tree, "url": url, "image_observation": None}
        return {"results": [{"content": "", "extra": {"adp_class": "web_observation", "web": web}}]}

    def calls(name, **given):
        return [{"tool_call_id": "c", "function_name": name, "arguments": given, "extra": {"adp_class": "api_action"}}]  # fmt: skip

    steps = [
        {"source": "user", "message": "Buy tea"},
        {"source": "agent", "message": "", "observation": shows(WA_TREE, "http://shop.test/a"), "llm_call_count": 0},
        {"source": "agent", "message": "type", "tool_calls": calls("type", bid='"12"', text='"say "tea""', press_enter_after="1"), "observation": shows(TREE)},
        {"source": "agent", "message": "go", "tool_calls": calls("click", bid='"13"'), "observation": shows(TREE)},
        {"source": "agent", "message": "scroll", "tool_calls": calls("scroll", delta_x="0", delta_y="500"), "observation": shows(TREE)},
        {"source": "agent", "message": "<finish> 5 teas </finish>"},
    ]  # fmt: skip
    agent = {"name": "adp", "version": "1"}
    numbered = [{"step_id": n, **s} for n, s in enumerate(steps, start=1)]
    document = {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": agent, "steps": numbered}
    path = tmp_path / "sample_atif.json"
    path.write_text(json.dumps([document], indent=2), "utf-8")
    (t,), tally = read(path)
    assert [s.action for s in t.steps] == [
        Fill("12", 'say "tea"'), Press("12", "Enter"), Click("13"), Scroll(0, 500), SendMsgToUser("5 teas")
    ]  # fmt: skip
    assert (
        t.steps[0].observation.tree
        == "[1] RootWebArea 'Shop', focused=True\n\t[12] textbox 'Search'"
    )
    assert (t.steps[0].observation.url, t.reason) == ("http://shop.test/a", Reason.ANSWERED)
    assert tally.dropped == {}
    assert list(tally.noted) == [
        "type with Enter became fill and press, with a page between that no file holds"
    ]


@pytest.mark.parametrize(
    ("call", "did", "left_out"),
    [
        ("fill('12', 'tea')\npress('12', 'Enter')", [Fill("12", "tea"), Press("12", "Enter")], 0),
        ("fill('12', 'tea')\nclick('13')\nclick('12')", [Fill("12", "tea")], 2),
        ("press('12', 'Enter')\nclick('13')", [Press("12", "Enter")], 1),
    ],
)
def test_of_several_actions_the_first_is_the_step_and_typing_ends_with_enter(tmp_path, call, did, left_out):  # fmt: skip
    rows = [step(call), step("click('13')"), step(None, terminated=True)]
    (t,), tally = read(lines(tmp_path, {"task_name": "x", "steps": rows}))
    assert [s.action for s in t.steps] == [*did, Click("13")]
    if len(did) == 2:
        assert "[12] textbox 'Search', value='tea'" in t.steps[1].observation.tree
    assert sum(n for why, n in tally.noted.items() if why.startswith("further action")) == left_out


def test_trees_are_in_our_dialect_and_odd_lines_are_counted(tmp_path):
    tree = "RootWebArea 'Shop', url='http://shop.test/tea'\n\t[12] textbox 'Search' value='tea', focused\n\t<<torn"
    (t,), tally = read(lines(tmp_path, {"task_name": "x", "steps": [step("click('12')", tree=tree), step(None, terminated=True)]}))  # fmt: skip
    page = t.steps[0].observation
    assert (
        page.tree
        == "RootWebArea 'Shop', url='http://shop.test/tea'\n\t[12] textbox 'Search', value='tea', focused\n\t<<torn"
    )
    assert (page.url, page.focused) == ("http://shop.test/tea", "12")
    assert tally.noted == {"line of a page is no element: kept as it stands": 1}


def whole(t: Trajectory) -> Trajectory:
    """What ATIF can hold: no tokens, no lone surrogates, from the task's first page."""
    steps = tuple(replace(s, generations=()) for s in t.steps)
    bare = replace(t, steps=steps, past=(), final=t.final if steps else None, license="MIT")
    return load_as(Trajectory, json.dumps(clean_json(json.loads(dump(bare)))[0]))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(trajectories)
def test_atif_of_ours_comes_back_as_it_was(tmp_path_factory, made):
    t = whole(made)
    folder = tmp_path_factory.mktemp("atif")
    export([t], ExportWish(out=folder, format=ExportFormat.ATIF))
    found, tally = read(folder / "trajectories.jsonl")
    assert found == [t] or (not t.steps and tally.dropped)


def test_session_traces_are_a_header_and_messages(tmp_path):
    (t,), _ = read(lines(tmp_path, gobrowse(1, 0), gobrowse(1, 1)))
    export([replace(t, license="MIT")], ExportWish(out=tmp_path / "s", format=ExportFormat.SESSION_TRACE))  # fmt: skip
    (file,) = (tmp_path / "s").iterdir()
    head, *messages = (json.loads(line) for line in file.read_text("utf-8").splitlines())
    assert head["type"] == "session" and {"harness", "id"} <= set(head)
    assert [m["message"]["role"] for m in messages] == ["user", "assistant"] * 2


def test_unknown_files_are_refused_with_what_stood_there(tmp_path):
    with pytest.raises(UserError, match="no format we know"):
        detect(lines(tmp_path, {"colour": "red"}))
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(UserError, match="it is empty"):
        detect(tmp_path / "empty.jsonl")


@pytest.fixture
def cases(request) -> Path:
    folder = request.config.getoption("--cases")
    if folder is None or not (Path(folder) / "trajectories").is_dir():
        pytest.skip("needs --cases DIR with trajectories/")
    return Path(folder)


def test_every_real_file_is_read_or_refused_by_name(cases):
    kinds: dict[str, int] = {}
    for path in sorted((cases / "trajectories").iterdir()):
        try:
            found, tally = read(path)
        except DynawebError as error:
            assert path.name in str(error)
            continue
        assert found and tally.dropped == {}, path.name
        kinds[detect(path)] = kinds.get(detect(path), 0) + 1
        for step in (s for t in found for s in t.steps):
            assert read_tree(step.observation.tree)
    assert kinds == {Format.BROWSERGYM: 1, Format.WEBARENA_HTML: 2, Format.WEBVOYAGER: 3}
