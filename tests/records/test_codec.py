import contextlib
import json
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.records import strategies as s

from dynaweb.errors import StorageError
from dynaweb.records import codec
from dynaweb.records.action import Click, Fill, Scroll
from dynaweb.records.codec import SCHEMA_VERSION, dump, load, load_as
from dynaweb.records.delta import Delta
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.trajectory import (
    Behaviour,
    Generation,
    Group,
    Outcome,
    Reason,
    Start,
    Step,
    Trajectory,
    Transition,
    Verdict,
    World,
)

PAGE = Observation(
    url="http://127.0.0.1/a",
    title="A",
    tree="RootWebArea 'A'\n\t[1] button 'Ok'",
    tabs=(Tab(url="u", title="t"),),
)
REPLY = Generation(
    prompt_ids=tuple(range(100)),
    completion_ids=(5, 6, 2),
    logprobs=(-0.5, -0.25, -1.0),
    temperature=1.0,
    seed=7,
    policy_version="p",
    raw_text="click('1')",
    finish="stop",
)
TRAJECTORY = Trajectory(
    trajectory_id="t1",
    task="click-test",
    goal="Click the button.",
    seed=3,
    steps=(Step(observation=PAGE, action=Click("1"), generations=(REPLY,)),),
    final=PAGE,
    outcome=Outcome.SUCCESS,
    reason=Reason.TASK_ENDED,
    raw_reward=1.0,
    world=World.LIVE,
    behaviour=Behaviour.AGENT,
)


@given(
    st.one_of(
        s.observations,
        s.generations,
        s.steps,
        s.starts,
        s.trajectories,
        s.groups,
        st.builds(Transition),
        st.builds(Verdict),
    )
)
@settings(max_examples=150, deadline=None)
def test_round_trip(record):
    line = dump(record)
    assert load(line) == record
    assert "\n" not in line and line.isascii()


@given(s.actions)
@settings(deadline=None)
def test_every_action_round_trips(action):
    step = Step(observation=PAGE, action=action)
    assert load(dump(step)) == step


def test_a_key_that_stands_twice_is_refused_by_name():
    line = dump(Verdict(outcome=Outcome.SUCCESS))
    with pytest.raises(StorageError, match="key 'outcome' stands twice"):
        load(line[:-1] + ', "outcome": "failure"}')


def test_a_line_says_what_it_is_and_leaves_defaults_out():
    fields = json.loads(dump(Verdict(outcome=Outcome.UNKNOWN)))
    assert fields == {"schema_version": SCHEMA_VERSION, "record": "Verdict", "outcome": "unknown"}


def test_a_stored_line_of_version_1_stays_readable():
    line = (
        '{"schema_version":1,"record":"Transition","observation":{"url":"u","title":"t","tree":"x","scroll":[0,40]},'
        '"action":"fill(\'3\', \'a\')","next_observation":{"url":"u","title":"t","tree":"y","focused":"3"},"fault":"disabled"}'
    )
    record = load_as(Transition, line)
    assert record.action == Fill("3", "a")
    assert record.observation.scroll == (0, 40)
    assert record.next_observation.focused == "3"
    assert dump(record) == line.replace('"schema_version":1', '"schema_version":2')


def test_version_1_called_a_recording_that_stops_a_fault_of_the_browser():
    now = replace(TRAJECTORY, outcome=Outcome.UNKNOWN, reason=Reason.RECORDING_STOPPED, detail="the recording stops")  # fmt: skip
    crash = replace(now, reason=Reason.BROWSER_FAULT, detail="the page crashed")
    for record in (now, crash, Group(start=now.start, members=(now, crash))):
        then = dump(record).replace("recording_stopped", "browser_fault").replace('version":2', 'version":1')  # fmt: skip
        assert '"schema_version":1' in then and load(then) == record


def test_text_longer_than_the_grammar_allows_still_round_trips():
    step = Step(observation=PAGE, action=Fill("1", "\0" * 30_000))
    assert load(dump(step)) == step
    assert load(dump(Step(observation=PAGE, action=Scroll(0.0, -100.0)))).action == Scroll(
        0.0, -100.0
    )


def test_token_ids_are_compact_and_exact():
    ids = tuple(i * 37 % 2048 for i in range(1000))
    generation = Generation(
        prompt_ids=ids,
        completion_ids=ids[:9],
        logprobs=(-0.1,) * 9,
        temperature=1.0,
        seed=0,
        policy_version="",
        raw_text="",
        finish="stop",
    )
    line = dump(generation)
    assert load(line) == generation
    assert len(line) < 3 * len(ids)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "not a record"),
        ("[1]", "JSON object"),
        ('{"schema_version":1,"record":"Trajectoryy"}', "unknown record 'Trajectoryy'"),
        (
            '{"schema_version":99,"record":"Verdict","outcome":"success"}',
            "schema_version 99 is newer",
        ),
        ('{"record":"Verdict","outcome":"success"}', "schema_version None"),
        (
            '{"schema_version":1,"record":"Verdict","outcome":"won"}',
            "Verdict.outcome: expected one of success",
        ),
        ('{"schema_version":1,"record":"Verdict"}', "Verdict needs 'outcome'"),
        (
            '{"schema_version":1,"record":"Verdict","outcome":"success","scroe":1}',
            "no field 'scroe'",
        ),
        (
            '{"schema_version":1,"record":"Verdict","outcome":"success","score":"1"}',
            "Verdict.score: expected a number",
        ),
        (
            '{"schema_version":1,"record":"Step","observation":{"url":"","title":"","tree":""},"action":"exec(1)"}',
            "Step.action: unknown action",
        ),
        ('{"schema_version":1,"record":"Tab","url":1,"title":""}', "Tab.url: expected text"),
        (
            '{"schema_version":1,"record":"Observation","url":"","title":"","tree":"","scroll":[1]}',
            "scroll: expected a list of 2",
        ),
        ("[" * 100_000, "not a record"),
    ],
)
def test_a_bad_line_is_one_named_error(line, says):
    with pytest.raises(StorageError, match=says.replace("[", r"\[")):
        load(line)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_no_damage_escapes_as_another_error(data):
    line = dump(TRAJECTORY)
    at = data.draw(st.integers(0, len(line) - 1))
    hurt = data.draw(
        st.sampled_from(
            [
                line[:at],
                line[:at] + line[at + 1 :],
                line[:at] + data.draw(st.characters(codec="ascii")) + line[at + 1 :],
            ]
        )
    )
    with contextlib.suppress(StorageError):
        load(hurt)


def test_load_as_refuses_another_kind():
    with pytest.raises(StorageError, match="expected a Start, found a Trajectory"):
        load_as(Start, dump(TRAJECTORY))


def test_nan_is_refused_when_written():
    with pytest.raises(StorageError, match="Verdict cannot be stored"):
        dump(Verdict(outcome=Outcome.SUCCESS, score=float("nan")))


def test_an_older_version_is_migrated(monkeypatch):
    monkeypatch.setattr(codec, "SCHEMA_VERSION", 2)
    monkeypatch.setattr(
        codec,
        "MIGRATIONS",
        {1: lambda name, fields: {**fields, "outcome": "failure"} if name == "Verdict" else fields},
    )
    assert load('{"schema_version":1,"record":"Verdict","outcome":"lost"}') == Verdict(
        outcome=Outcome.FAILURE
    )
    monkeypatch.setattr(codec, "MIGRATIONS", {})
    with pytest.raises(StorageError, match="no migration from schema_version 1 to 2"):
        load('{"schema_version":1,"record":"Verdict","outcome":"lost"}')


def test_speed_is_linear_in_steps():
    big = PAGE.tree * 60
    steps = tuple(
        Step(
            observation=Observation(url="u", title="t", tree=big),
            action=Click(str(i)),
            generations=(REPLY,),
        )
        for i in range(400)
    )
    long = Trajectory(
        trajectory_id="x",
        task="t",
        goal="g",
        seed=0,
        steps=steps,
        outcome=Outcome.FAILURE,
        reason=Reason.OUT_OF_STEPS,
        world=World.DREAM,
        behaviour=Behaviour.RANDOM,
    )
    begun = time.process_time()
    assert load(dump(long)) == long
    assert time.process_time() - begun < 2.0


@given(st.builds(Delta))
@settings(max_examples=100, deadline=None)
def test_state_changes_round_trip(delta):
    assert load(dump(delta)) == delta
