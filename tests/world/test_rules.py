"""Rules: right on every real transition of the toy site, and each one on a page of its own."""

from dataclasses import replace

import pytest
from tests.conformance.toy import TASKS
from tests.world.toys import wanderer

from dynaweb.axtree.gate import check_action
from dynaweb.axtree.tree import read_tree
from dynaweb.records.action import (
    Action,
    Clear,
    Click,
    Fill,
    Focus,
    GoBack,
    GoForward,
    Hover,
    NewTab,
    Noop,
    Press,
    Scroll,
    SelectOption,
    SendMsgToUser,
    TabClose,
    TabFocus,
)
from dynaweb.records.observation import Observation, Tab
from dynaweb.world.rules import apply_rules
from dynaweb.world.shown import equal_as_shown
from dynaweb.world.steps import known_steps

PAGE = Observation(
    url="http://x/a",
    title="A",
    tree="\n".join(
        (
            "RootWebArea 'A'",
            "\tStaticText 'Username'",
            "\t[1] textbox ''",
            "\tStaticText 'Password'",
            "\t[2] textbox ''",
            "\t[3] textbox 'Secret', value='•••'",
            "\t[4] checkbox 'Ham', checked='false'",
            "\t[5] combobox '', value='Red'",
            "\t\t[6] option 'Red', selected='true'",
            "\t\t[7] option 'Blue'",
            "\t[8] button 'Ok'",
            "\t\tStaticText 'inside'",
            "\t\t[9] generic 'icon', clickable",
            "\t[10] button 'Locked', disabled",
            "\t[11] generic 'plain', clickable",
        )
    ),
    tabs=(Tab(url="http://x/a", title="A", back=("http://x/0",), forward=("http://x/z",)),),
    focused="1",
    last_action_error="old news",
)


def line(page: Observation, bid: str) -> str:
    return next(row.strip() for row in page.tree.split("\n") if f"[{bid}]" in row)


@pytest.mark.parametrize("task", TASKS)
def test_rules_are_right_on_every_real_step_of_the_toy(task: str) -> None:
    """A settled step is the real page; a touched attribute has its real value."""
    for seed in range(12):
        for known in known_steps(wanderer(task, seed)):
            ruled = apply_rules(known.history, known.action)
            assert ruled.fault == known.fault
            if ruled.settled:
                assert ruled.page.last_action_error == known.next_page.last_action_error
                assert equal_as_shown(ruled.page, known.next_page, ruled.page)
            if known.terminal:
                continue
            real = {n.bid: n for n in read_tree(known.next_page.tree)}
            ours = {n.bid: n for n in read_tree(ruled.page.tree)}
            for bid, key in ruled.touched:
                assert ours[bid].attr(key) == real[bid].attr(key)


@pytest.mark.parametrize(
    "action", [Click("99"), Click("10"), Fill("8", "x"), SelectOption("5", ("Green",))]
)
def test_what_the_gate_refuses_is_settled_with_the_same_words(action: Action) -> None:
    refused = check_action(PAGE, action)
    assert refused is not None
    ruled = apply_rules([PAGE], action)
    assert ruled.settled and (ruled.fault, ruled.page.last_action_error) == refused
    assert replace(ruled.page, last_action_error="") == replace(PAGE, last_action_error="")


def test_an_action_that_happens_clears_the_old_error() -> None:
    assert apply_rules([PAGE], Hover("8")).page.last_action_error == ""


def test_typing_sets_the_value_and_moves_the_keyboard() -> None:
    ruled = apply_rules([PAGE], Fill("1", "it's bob"))
    assert line(ruled.page, "1") == "[1] textbox '', value=\"it's bob\""
    assert ruled.page.focused == "1" and not ruled.settled
    assert line(apply_rules([PAGE], Fill("1", "")).page, "1") == "[1] textbox ''"


def test_a_password_shows_as_many_dots_as_letters() -> None:
    assert line(apply_rules([PAGE], Fill("2", "abcd")).page, "2") == "[2] textbox '', value='••••'"
    assert line(apply_rules([PAGE], Fill("3", "x")).page, "3") == "[3] textbox 'Secret', value='•'"
    assert line(apply_rules([PAGE], Clear("3")).page, "3") == "[3] textbox 'Secret'"


def test_a_checkbox_goes_on_and_off() -> None:
    once = apply_rules([PAGE], Click("4")).page
    assert line(once, "4") == "[4] checkbox 'Ham', checked='true'"
    twice = apply_rules([once], Click("4")).page
    assert twice.tree == PAGE.tree


def test_a_right_click_ticks_nothing() -> None:
    assert apply_rules([PAGE], Click("4", "right")).page.tree == PAGE.tree


def test_choosing_an_option_shows_it() -> None:
    page = apply_rules([PAGE], SelectOption("5", ("Blue",))).page
    assert line(page, "5") == "[5] combobox '', value='Blue'"
    assert line(page, "6") == "[6] option 'Red'"
    assert line(page, "7") == "[7] option 'Blue', selected='true'"


@pytest.mark.parametrize(
    ("action", "focused"),
    [
        (Click("8"), "8"),
        (Click("9"), "8"),
        (Click("11"), None),
        (Focus("4"), "4"),
        (Press("2", "Enter"), "2"),
        (Hover("8"), "1"),
    ],
)
def test_the_keyboard_goes_to_the_nearest_that_takes_it(
    action: Action, focused: str | None
) -> None:
    assert apply_rules([PAGE], action).page.focused == focused


@pytest.mark.parametrize("action", [Noop(), Scroll(0, 100)])
def test_waiting_and_scrolling_need_no_model(action: Action) -> None:
    ruled = apply_rules([PAGE], action)
    assert ruled.settled and ruled.page.tree == PAGE.tree


def test_an_answer_ends_the_episode() -> None:
    ruled = apply_rules([PAGE], SendMsgToUser("done"))
    assert ruled.settled and ruled.terminal


def test_history_shows_a_page_that_was_seen_and_asks_for_one_that_was_not() -> None:
    first = replace(PAGE, url="http://x/0", title="Zero", tree="RootWebArea 'Zero'", tabs=())
    ruled = apply_rules([first, PAGE], GoBack())
    assert ruled.settled and ruled.page.tree == first.tree
    tab = ruled.page.tabs[0]
    assert (tab.url, tab.title, tab.back) == ("http://x/0", "Zero", ())
    assert tab.forward == ("http://x/a", "http://x/z")
    unseen = apply_rules([PAGE], GoForward())
    assert not unseen.settled and unseen.page.url == "http://x/z"


def test_tabs_open_change_and_close() -> None:
    opened = apply_rules([PAGE], NewTab()).page
    assert (opened.active_tab, opened.url, len(opened.tabs)) == (1, "about:blank", 2)
    back = apply_rules([PAGE, opened], TabFocus(0))
    assert back.settled and back.page.tree == PAGE.tree and back.page.active_tab == 0
    closed = apply_rules([PAGE, opened], TabClose())
    assert closed.settled and closed.page.tree == PAGE.tree and len(closed.page.tabs) == 1


def test_a_page_that_changed_address_since_is_not_made_up() -> None:
    two = replace(PAGE, tabs=(*PAGE.tabs, Tab(url="http://x/never-seen", title="?")))
    assert not apply_rules([two], TabFocus(1)).settled


def test_a_radio_button_unsets_its_neighbours_and_no_others() -> None:
    tree = "\n".join(
        (
            "RootWebArea 'R'",
            "\t[1] group 'Size'",
            "\t\t[2] radio 'S', checked='true'",
            "\t\t[3] radio 'L', checked='false'",
            "\t[4] group 'Colour'",
            "\t\t[5] radio 'Red', checked='true'",
        )
    )
    page = apply_rules([replace(PAGE, tree=tree)], Click("3")).page
    assert line(page, "2") == "[2] radio 'S', checked='false'"
    assert line(page, "3") == "[3] radio 'L', checked='true'"
    assert line(page, "5") == "[5] radio 'Red', checked='true'"
    assert apply_rules([page], Click("3")).page.tree == page.tree


def test_a_list_of_several_choices_marks_just_those() -> None:
    tree = "\n".join(
        (
            "RootWebArea 'L'",
            "\t[1] listbox '', multiselectable",
            "\t\t[2] option 'A', selected='true'",
            "\t\t[3] option 'B'",
            "\t\t[4] option 'C'",
        )
    )
    page = apply_rules([replace(PAGE, tree=tree)], SelectOption("1", ("B", "C"))).page
    assert [line(page, b) for b in "234"] == [
        "[2] option 'A'",
        "[3] option 'B', selected='true'",
        "[4] option 'C', selected='true'",
    ]


def test_a_click_on_an_option_of_an_open_list_chooses_it_alone() -> None:
    tree = "\n".join(
        (
            "RootWebArea 'L'",
            "\t[1] listbox '', multiselectable",
            "\t\t[2] option 'A', selected='true'",
            "\t\t[3] option 'B'",
            "\t[5] combobox '', value='D'",
            "\t\t[6] option 'D', selected='true'",
            "\t\t[7] option 'E', selected='false'",
        )
    )
    shown = replace(PAGE, tree=tree)
    page = apply_rules([shown], Click("3")).page
    assert [line(page, b) for b in "23"] == ["[2] option 'A'", "[3] option 'B', selected='true'"]
    assert page.focused == "1"
    assert apply_rules([shown], Click("7")).page.tree == tree
