"""The public WebArena traces: made ones for every oddity, and the real file where it is given.

`pytest --cases DIR` looks for `webarena_traces.jsonl.gz` in DIR, DIR/data and DIR/../data.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.run import ImportWish, import_files
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.imports.webarena_traces import read_webarena_traces
from dynaweb.errors import UserError
from dynaweb.records.action import Click, Fill, SendMsgToUser
from dynaweb.records.codec import load_as
from dynaweb.records.trajectory import Behaviour, Fault, Outcome, Reason, Trajectory

TREE = "RootWebArea 'Shop', focused\n\t[12] textbox 'Search', focused\n\t[13] button 'Go'"


def reply(call, thought="why"):
    return f"<think>\n{thought}\n</think>\n<action>\n```{call}```\n</action>"


def row(call, **changes):
    return {
        "url": "http://shop.test/", "n_tabs": 1, "axtree": TREE, "action": reply(call),
        "last_action": None, "last_action_error": "", "reward": 0.0, "terminated": False, "truncated": False,
    } | changes  # fmt: skip


def attempt(steps, **changes):
    return {
        "task_id": 7, "sites": ["shopping"], "intent_template_id": 279, "goal": "Buy", "reward": 1.0, "steps": steps,
    } | changes  # fmt: skip


def read(tmp_path, *attempts, name="t.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(a) + "\n" for a in attempts), encoding="utf-8")
    tally = Tally()
    return list(read_webarena_traces(path, Provenance(license="MIT"), tally)), tally


def test_the_row_that_ended_is_the_final_page_and_its_reply_is_no_step(tmp_path):
    (t,), tally = read(
        tmp_path,
        attempt([
            row("fill('12', 'tea')"), row("send_msg_to_user('done')", axtree=TREE + "\n\t[14] link 'x'"),
            row("click('13')", terminated=True, reward=1.0),
        ]),
    )  # fmt: skip
    assert [s.action for s in t.steps] == [Fill("12", "tea"), SendMsgToUser("done")]
    assert t.final is not None and t.final.tree == TREE
    assert (t.outcome, t.reason, t.raw_reward) == (Outcome.SUCCESS, Reason.ANSWERED, 1.0)
    assert (t.task, t.seed, t.trajectory_id) == ("webarena.template279", 7, "webarena.7")
    assert (t.license, t.behaviour, t.origin) == ("MIT", Behaviour.AGENT, "WebArena shopping")
    assert t.steps[0].thought == "why"
    assert t.steps[0].observation.title == "Shop" and t.steps[0].observation.focused == "12"
    assert tally.noted == {"reply after the episode's end was not executed: left out": 1}


def test_part_of_the_points_is_no_success(tmp_path):
    (t,), _ = read(tmp_path, attempt([row("noop()"), row("", terminated=True)], reward=0.8))
    assert (t.outcome, t.raw_reward) == (Outcome.FAILURE, 0.8)


def test_a_recording_that_stops_is_unknown(tmp_path):
    (t,), tally = read(tmp_path, attempt([row("click('13')"), row("click('12')")]))
    assert (len(t.steps), t.final, t.outcome) == (2, None, Outcome.UNKNOWN)
    assert t.reason is Reason.RECORDING_STOPPED
    assert tally.noted == {"recording stops before the episode's end: outcome unknown": 1}


def test_truncated_is_out_of_steps(tmp_path):
    (t,), _ = read(tmp_path, attempt([row("noop()"), row("", truncated=True)], reward=0.0))
    assert t.reason is Reason.OUT_OF_STEPS


def test_faults_follow_from_the_page_not_from_the_error(tmp_path):
    timeout = "TimeoutError: Locator.click: Timeout 500ms exceeded."
    (t,), _ = read(
        tmp_path,
        attempt([
            row("click('13')"), row("click('13')", url="http://shop.test/go", last_action_error=timeout),
            row("click('99')", url="http://shop.test/go", last_action_error=timeout),
            row("", url="http://shop.test/go", last_action_error='ValueError: Could not find element with bid "99"', terminated=True),
        ]),
    )  # fmt: skip
    assert [s.fault for s in t.steps] == [None, Fault.IMPOSSIBLE, Fault.MISSING_ELEMENT]
    assert t.steps[1].observation.last_action_error == timeout


def test_a_reply_that_is_cut_off_did_nothing_and_foreign_actions_stay_words(tmp_path):
    (t,), tally = read(
        tmp_path,
        attempt([
            row("", action="<think>\nhm\n</think>\n<action>\n```click('13')```"), row("take_note('x')"),
            row("", action=None if False else "", truncated=True),
        ]),
    )  # fmt: skip
    assert [s.action for s in t.steps] == [None, None]
    assert [s.fault for s in t.steps] == [Fault.NO_ACTION, Fault.MALFORMED]
    assert "take_note('x')" in t.steps[1].thought
    assert "action 'take_note' is no action here: kept as words" in tally.noted


def test_a_wrong_type_keeps_the_steps_before_it(tmp_path):
    (t,), tally = read(
        tmp_path,
        attempt([row("click('13')"), row("click('12')", axtree=5), row("noop()"), row("", terminated=True)]),
    )  # fmt: skip
    assert [s.action for s in t.steps] == [Click("13")]
    assert t.outcome is Outcome.UNKNOWN and t.final is None
    assert tally.dropped == {
        "step: axtree: input should be a valid string": 1,
        "step after an invalid one": 2,
    }


def test_rows_of_a_wrong_type_and_drifted_fields_are_named(tmp_path):
    good = attempt([row("noop()", colour="red"), row("", terminated=True)])
    found, tally = read(tmp_path, {**good, "goal": None}, good)
    assert len(found) == 1
    assert tally.dropped == {"attempt: goal: input should be a valid string": 1}
    assert tally.noted["step field 'colour' is not read"] == 1


def test_importing_again_finds_its_work_and_never_overwrites(tmp_path):
    source, out = tmp_path / "s.jsonl", tmp_path / "o.jsonl"
    source.write_text(
        json.dumps(attempt([row("noop()"), row("", terminated=True)])) + "\n", "utf-8"
    )
    wish = ImportWish(sources=(source,), out=out)
    first = import_files(wish)
    written = out.read_bytes()
    assert import_files(wish) == first and out.read_bytes() == written
    assert load_as(Trajectory, written.decode()).goal == "Buy"
    with pytest.raises(UserError, match="there already"):
        import_files(ImportWish(sources=(source,), out=out, skip_damaged=True))


@pytest.fixture(scope="module")
def traces(request) -> Path:
    folder = request.config.getoption("--cases")
    for place in (
        (Path(folder), Path(folder) / "data", Path(folder).parent / "data") if folder else ()
    ):
        if (place / "webarena_traces.jsonl.gz").is_file():
            return place / "webarena_traces.jsonl.gz"
    pytest.skip("needs --cases DIR with webarena_traces.jsonl.gz")


MEASURED = """
import sys
from pathlib import Path
from dynaweb.cli.main import main
code = main(sys.argv[1:])
status = Path("/proc/self/status").read_text("utf-8")
print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.timeout(900)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to measure memory")
def test_every_attempt_of_the_real_file_is_read_in_little_memory(traces, tmp_path):
    """In a process of its own, whose largest memory is then the import's."""
    out = tmp_path / "o.jsonl"
    options = ["--out", str(out), "--license", "Apache-2.0", "--json"]
    command = [sys.executable, "-c", MEASURED, "import", str(traces), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    tally = json.loads(done.stdout)
    with gzip.open(traces, "rt", encoding="utf-8") as file:
        steps = [json.loads(line)["steps"] for line in file]
    unfinished = sum(not (s[-1]["terminated"] or s[-1]["truncated"]) for s in steps)
    assert tally["trajectories"] == len(steps) and tally["dropped"] == {}
    assert tally["steps"] == sum(map(len, steps)) - len(steps) + unfinished
    assert int(done.stderr.split()[-1]) * 1024 < 300e6
