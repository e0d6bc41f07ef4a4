import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynaweb.errors import ActionError
from dynaweb.records import action as act

words = st.text(st.characters(), max_size=40)
numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3) + 0.0)
modifiers = st.lists(words, max_size=3).map(tuple)
actions = st.one_of(
    st.builds(act.Click, words, words, modifiers),
    st.builds(act.Dblclick, words, words, modifiers),
    st.builds(act.Hover, words),
    st.builds(act.Fill, words, words),
    st.builds(act.Clear, words),
    st.builds(act.Press, words, words),
    st.builds(act.Focus, words),
    st.builds(act.SelectOption, words, modifiers),
    st.builds(act.DragAndDrop, words, words),
    st.builds(act.Scroll, numbers, numbers),
    st.builds(act.Noop, numbers),
    st.builds(act.GoBack),
    st.builds(act.GoForward),
    st.builds(act.Goto, words),
    st.builds(act.NewTab),
    st.builds(act.TabClose),
    st.builds(act.TabFocus, st.integers(-5, 99)),
    st.builds(act.SendMsgToUser, words),
    st.builds(act.ReportInfeasible, words),
)


@given(actions)
def test_parse_of_print_is_identity(action):
    assert act.parse_action(act.print_action(action)) == action


def test_every_action_is_covered_by_the_property():
    assert len(act.ACTION_TYPES) == 19


@pytest.mark.filterwarnings("error")
def test_odd_literals_do_not_warn():
    with pytest.raises(ActionError):
        act.parse_action("click('3click('1', 'a')")
    with pytest.raises(ActionError):
        act.parse_action("click(1and 2)")


def test_defaults_are_left_out():
    assert act.print_action(act.Click("12")) == "click('12')"
    assert (
        act.print_action(act.Click("12", modifiers=("Shift",))) == "click('12', modifiers='Shift')"
    )


@pytest.mark.parametrize(
    "text",
    [
        "click(12)",
        "click()",
        "click('a', bid='b')",
        "hack('a')",
        "click('a'); click('b')",
        "a.click('b')",
        "click(f'{1}')",
        "click('a' * 10**9)",
        "fill('a', open('/etc/passwd'))",
        "noop(1e999)",
        "(" * 5000 + ")" * 5000,
        "x" * 30000,
        "tab_focus(True)",
    ],
)
def test_refuses_everything_else(text):
    with pytest.raises(ActionError):
        act.parse_action(text)


@given(st.text(max_size=200))
def test_total_on_hostile_text(text):
    with contextlib.suppress(ActionError):
        act.parse_action(text)
