import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.axtree.pages import actions, pairs

from dynaweb.axtree.apply import apply
from dynaweb.axtree.diff import diff, without_renumbering
from dynaweb.axtree.text import parse_delta, print_delta
from dynaweb.errors import DeltaError
from dynaweb.records.action import Click
from dynaweb.records.delta import Delta, DeltaKind
from dynaweb.records.observation import Observation

pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")


@settings(max_examples=200, deadline=None)
@given(pairs(), actions, st.booleans())
def test_every_change_is_read_back_as_written(pair, action, learned):
    delta = diff(pair[0], action, pair[1])
    delta = without_renumbering(delta) if learned else delta
    assert parse_delta(print_delta(delta)) == delta


def test_nothing_and_the_end_are_one_word():
    assert print_delta(Delta(kind=DeltaKind.NONE)) == "none"
    assert print_delta(Delta(kind=DeltaKind.TERMINAL)) == "end"


TREE = "RootWebArea 'T'\n\t[13] checkbox 'One', checked='false'\n\tStaticText 'Count: 1'\n\t[14] button 'Submit'"


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (TREE.replace("'false'", "'true'"), "[13] checked='true'"),
        (TREE.replace("'Count: 1'", "'Count: 2'"), "[13]+1 'Count: 2'"),
        (TREE.replace("'Submit'", "'Submit', disabled"), "[14] disabled"),
        (TREE + "\n\t[15] link 'More'", "+[14]\n\t[] link 'More'"),
        (TREE.replace("\tStaticText 'Count: 1'\n", ""), "-[13]+1"),
        (TREE + "\n\tStaticText 'You chose Submit!'", "+[14]\n\tStaticText 'You chose $n!'"),
    ],
)
def test_a_change_says_only_what_the_page_does_not(after, text):
    before = Observation(url="u", title="T", tree=TREE)
    delta = diff(before, Click("14"), Observation(url="u", title="T", tree=after))
    assert print_delta(delta) == text


junk = st.lists(
    st.sampled_from(
        [
            "[13]",
            "+",
            "-",
            ">",
            "#",
            "@url ",
            "@tabs ",
            "[[",
            "'a'",
            "checked='x'",
            ", ",
            "\n",
            "\t",
            "page",
            "end",
            "none",
            " ",
            ":= ",
            "=[13]",
            "$t",
            "|",
            "\\",
            "^",
            "root",
            "button",
            "\ud800",
            "9" * 40,
        ]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.one_of(junk, st.text(max_size=80)), actions)
def test_any_text_is_a_change_or_an_error(text, action):
    page = Observation(url="u", title="T", tree=TREE)
    try:
        delta = parse_delta(text)
        apply(page, action, delta)
    except DeltaError as error:
        assert str(error)


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "'" * 2_000_000,
        "[13] " + "a, " * 600_000,
        "[13] " + ", -a" * 500_000,
        "@tabs " + "[" * 1_000_000,
        "\t" * 2_000_000,
        "+[13]\n" + "\t[] button 'x'\n" * 20_000,
        "[13] '" + "\\" * 2_000_001,
    ],
)
def test_hostile_text_takes_no_time(text):
    began = time.process_time()
    try:
        apply(Observation(url="u", title="T", tree=TREE), Click("13"), parse_delta(text))
    except DeltaError as error:
        assert len(str(error)) < 300
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[99] checked='true'", "'99' is not on the page"),
        ("[14] -checked", "no attribute 'checked'"),
        ("[14] '$t'", "points at no text"),
        ("-[14]\n[14] disabled", "changed and deleted"),
        ("[14] disabled\nSubmit it", "line 2"),
        ("+[14]\n\t=[14]", "after themselves"),
        ("page", "no lines"),
    ],
)
def test_a_change_that_does_not_fit_is_refused_clearly(text, says):
    with pytest.raises(DeltaError, match=says.replace("[", r"\[")):
        apply(Observation(url="u", title="T", tree=TREE), Click("13"), parse_delta(text))
