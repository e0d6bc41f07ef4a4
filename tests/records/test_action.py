import pytest
from hypothesis import given, strategies as st

from dynaweb.errors import ActionError
from dynaweb.records import action as A

words = st.text(st.characters(), max_size=40)
numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3) + 0.0)
modifiers = st.lists(words, max_size=3).map(tuple)
actions = st.one_of(
    st.builds(A.Click, words, words, modifiers),
    st.builds(A.Dblclick, words, words, modifiers),
    st.builds(A.Hover, words),
    st.builds(A.Fill, words, words),
    st.builds(A.Clear, words),
    st.builds(A.Press, words, words),
    st.builds(A.Focus, words),
    st.builds(A.SelectOption, words, modifiers),
    st.builds(A.DragAndDrop, words, words),
    st.builds(A.Scroll, numbers, numbers),
    st.builds(A.Noop, numbers),
    st.builds(A.GoBack),
    st.builds(A.GoForward),
    st.builds(A.Goto, words),
    st.builds(A.NewTab),
    st.builds(A.TabClose),
    st.builds(A.TabFocus, st.integers(-5, 99)),
    st.builds(A.SendMsgToUser, words),
    st.builds(A.ReportInfeasible, words),
)


@given(actions)
def test_parse_of_print_is_identity(action):
    assert A.parse_action(A.print_action(action)) == action


def test_every_action_is_covered_by_the_property():
    assert len(A.ACTION_TYPES) == 19


def test_defaults_are_left_out():
    assert A.print_action(A.Click("12")) == "click('12')"
    assert A.print_action(A.Click("12", modifiers=("Shift",))) == "click('12', modifiers='Shift')"


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
        A.parse_action(text)


@given(st.text(max_size=200))
def test_total_on_hostile_text(text):
    try:
        A.parse_action(text)
    except ActionError:
        pass
