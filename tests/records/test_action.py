import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynaweb.errors import ActionError
from dynaweb.records import action as act
from dynaweb.records import primitives
from dynaweb.records.calltext import scan_call

unhurried = settings(deadline=None)

words = st.text(st.characters(exclude_categories=()), max_size=40)
numbers = st.floats(-1e6, 1e6, allow_nan=False)
values = {
    "str": words,
    "float": numbers,
    "int": st.integers(-5, 99),
    "bool": st.booleans(),
    "tuple[str, ...]": st.lists(words, max_size=3).map(tuple),
}


def _value_of(field) -> st.SearchStrategy:
    return values[field.type if isinstance(field.type, str) else _name(field.type)]


def _name(annotation) -> str:
    return annotation.__name__ if annotation in (str, float, int, bool) else str(annotation)


actions = st.one_of(
    [
        st.builds(kind, *(_value_of(f) for f in kind.__dataclass_fields__.values()))
        for kind in act.ACTION_TYPES
    ]
)


@given(actions)
@unhurried
def test_parse_of_print_is_identity(action):
    assert act.parse_action(act.print_action(action)) == action


@given(actions)
@unhurried
def test_the_bids_of_an_action_can_be_changed(action):
    bids = act.target_bids(action)
    other = act.with_bids(action, [f"{b}x" for b in bids])
    assert act.target_bids(other) == tuple(f"{b}x" for b in bids)
    assert act.with_bids(other, bids) == action


BROWSERGYM = [
    "send_msg_to_user",
    "report_infeasible",
    "noop",
    "scroll",
    "fill",
    "select_option",
    "click",
    "dblclick",
    "hover",
    "press",
    "focus",
    "clear",
    "drag_and_drop",
    "upload_file",
    "scroll_at",
    "mouse_move",
    "mouse_up",
    "mouse_down",
    "mouse_click",
    "mouse_dblclick",
    "mouse_drag_and_drop",
    "mouse_upload_file",
    "keyboard_down",
    "keyboard_up",
    "keyboard_press",
    "keyboard_type",
    "keyboard_insert_text",
    "go_back",
    "go_forward",
    "goto",
    "tab_close",
    "tab_focus",
    "new_tab",
]


def test_the_union_is_the_33_primitives_of_browsergym():
    assert set(act.BY_NAME) == set(BROWSERGYM)
    assert len(act.ACTION_TYPES) == len(BROWSERGYM) == 33
    assert all(kind.__module__ == primitives.__name__ for kind in act.ACTION_TYPES)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('fill(\'a12\', "example with \\"quotes\\"")', act.Fill("a12", 'example with "quotes"')),
        ("fill('45', 'multi-line\\nexample')", act.Fill("45", "multi-line\nexample")),
        (
            'click(\'48\', button="middle", modifiers=["Shift"])',
            act.Click("48", "middle", ("Shift",)),
        ),
        ("scroll(-50.2, -100.5)", act.Scroll(-50.2, -100.5)),
        ("mouse_up(47, 252, 'right')", act.MouseUp(47.0, 252.0, "right")),
        ("upload_file('63', ['a.png', 'b.zip'])", act.UploadFile("63", ("a.png", "b.zip"))),
        ("fill('1', 'x', True)", act.Fill("1", "x", True)),
        ("keyboard_type('''it's''')  # typed", act.KeyboardType("it's")),
        ("click( '17' , )", act.Click("17")),
        (r"goto(r'http://a/\d')", act.Goto(r"http://a/\d")),
    ],
)
def test_reads_browsergyms_own_examples(text, action):
    assert act.parse_action(text) == action


@pytest.mark.filterwarnings("error")
def test_odd_literals_do_not_warn():
    with pytest.raises(ActionError):
        act.parse_action("click('3click('1', 'a')")
    with pytest.raises(ActionError):
        act.parse_action("click(1and 2)")


def test_the_printed_form_is_what_models_were_trained_on():
    assert act.print_action(act.Click("12")) == "click('12')"
    assert (
        act.print_action(act.Click("12", modifiers=("Shift",))) == "click('12', modifiers='Shift')"
    )
    assert act.print_action(act.Fill("5", "it's")) == "fill('5', \"it's\")"
    assert act.print_action(act.SelectOption("5", ("a", "b"))) == "select_option('5', ['a', 'b'])"
    assert act.print_action(act.Scroll(0.0, 120.0)) == "scroll(0.0, 120.0)"
    assert act.print_action(act.Noop()) == "noop()"
    assert act.print_action(act.Noop(500.0)) == "noop(500.0)"


@pytest.mark.parametrize(
    "text",
    [
        "click(12)",
        "click()",
        "click('a', bid='b')",
        "hack('a')",
        "click('a'); click('b')",
        "click('a') click('b')",
        "a.click('b')",
        "click(f'{1}')",
        "click(fr'{1}')",
        "click(b'1')",
        "click('a' * 10**9)",
        "click(*['a'])",
        "fill('a', open('/etc/passwd'))",
        "fill('a', 'b', 1)",
        "noop(1e999)",
        "noop(1e9)",
        "(" * 5000 + ")" * 5000,
        "click(" + "[" * 20 + "]" * 20 + ")",
        "click('a', " + "-" * 5000 + "1)",
        "x" * 30000,
        "tab_focus(True)",
        "click('a\nb')",
    ],
)
def test_refuses_everything_else(text):
    with pytest.raises(ActionError):
        act.parse_action(text)


@given(st.text(max_size=200) | st.text("click('\"[]),=#\\\n 1r", max_size=60))
@settings(max_examples=300, deadline=None)
def test_total_on_hostile_text(text):
    with contextlib.suppress(ActionError):
        act.parse_action(text)


@pytest.mark.parametrize(
    "piece", ["(", "'", '"', "'''", "[", "click('", "a,", "#", "\\'", "r'", "f(", "'a' "]
)
def test_a_call_is_found_in_linear_time(piece):
    text = "click(" + piece * (200_000 // len(piece))
    begun = time.process_time()
    with contextlib.suppress(ActionError):
        scan_call(text)
    with contextlib.suppress(ActionError):
        scan_call(text, line_breaks=True)
    assert time.process_time() - begun < 3.0
