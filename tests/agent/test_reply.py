import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynaweb.agent.reply import read_reply
from dynaweb.records.action import Click, Fill, SendMsgToUser
from dynaweb.records.trajectory import Fault


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("click('12')", Click("12")),
        (" click('12')", Click("12")),
        ("```click('12')```", Click("12")),
        ("<think>first click('3')</think>\n<action>\n```click('12')```\n</action>", Click("12")),
        ("click(12)", Click("12")),
        ("I will type.\nfill('5', 'a\\nb')", Fill("5", "a\nb")),
        ("fill(5, value='x')", Fill("5", "x")),
        ("`click('1')`", Click("1")),
        ("click('1')\nclick('2')", Click("2")),
        ("send_msg_to_user('I did ```click(1)``` it')", SendMsgToUser("I did ```click(1)``` it")),
    ],
)
def test_reads_what_models_write(text, action):
    assert read_reply(text).action == action


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", Fault.NO_ACTION),
        ("I think we should click the button", Fault.NO_ACTION),
        ("click('1'", Fault.MALFORMED),
        ("click('1', 'left', [], 4)", Fault.MALFORMED),
        ("click(__import__('os'))", Fault.MALFORMED),
    ],
)
def test_refuses_with_a_reason(text, fault):
    reply = read_reply(text)
    assert (reply.action, reply.fault) == (None, fault)
    assert reply.problem


@given(st.text(max_size=300))
def test_total(text):
    reply = read_reply(text)
    assert (reply.action is None) == (reply.fault is not None)
