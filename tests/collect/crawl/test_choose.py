"""What a crawl does on a page: only what the page allows, less of what was done, text that fits its field."""

from collections import Counter
from random import Random

import pytest

from dynaweb.axtree.gate import check_action
from dynaweb.axtree.tree import read_tree
from dynaweb.collect.crawl.choose import Memory, choose_action
from dynaweb.collect.crawl.plausible import plausible_text
from dynaweb.records.action import Click, Fill, Goto, Press, SelectOption, TabClose
from dynaweb.records.observation import Observation, Tab

TREE = """RootWebArea 'Shop'
\t[1] link 'Lamps'
\t[2] link 'Chairs'
\t[3] button 'Buy', disabled
\t[4] textbox 'Email'
\t[5] combobox 'Size', expanded='false'
\t\t[6] option 'Small', selected='true'
\t\t[7] option 'Large'
\t[8] heading 'Welcome'
\t[9] textbox 'Total', readonly
\t[10] checkbox 'Gift', checked='false'"""


def page(tree=TREE, **more):
    tabs = (Tab(url="http://a/", title="Shop", back=("http://a/b",)),)
    return Observation(**{"url": "http://a/", "title": "Shop", "tree": tree, "tabs": tabs, **more})


def test_every_action_passes_the_gate():
    kinds = Counter()
    for seed in range(400):
        action = choose_action(page(), (), Random(seed), Memory())
        assert check_action(page(), action) is None, action
        kinds[type(action).__name__] += 1
        if isinstance(action, Click):
            assert action.bid in {"1", "2", "4", "10", "9"}
        if isinstance(action, SelectOption):
            assert action.options == ("Large",), "what is chosen already changes nothing"
    assert {"Click", "Fill", "SelectOption", "Scroll", "GoBack"} <= set(kinds)


def test_what_was_done_is_done_less():
    memory, clicked = Memory(), Counter()
    tree = "RootWebArea 'x'\n" + "\n".join(f"\t[{i}] link 'L{i}'" for i in range(1, 21))
    for seed in range(40):
        action = choose_action(page(tree), (), Random(seed), memory)
        if isinstance(action, Click):
            clicked[action.bid] += 1
    assert len(clicked) >= 15 and max(clicked.values()) <= 4
    fresh = Counter(
        a.bid
        for seed in range(40)
        if isinstance(a := choose_action(page(tree), (), Random(seed), Memory()), Click)
    )
    assert len(fresh) <= len(clicked)


def test_another_address_is_another_place():
    memory = Memory()
    for _ in range(5):
        memory.note(page(), "click", "link Lamps")
    assert memory.freshness(page(), "click", "link Lamps") < 0.03
    assert memory.freshness(page(url="http://a/other"), "click", "link Lamps") == 1.0
    assert memory.freshness(page(url="http://a/#top"), "click", "link Lamps") < 0.03


def test_typing_may_be_followed_by_enter():
    past = (Fill("4", "x"),)
    actions = [choose_action(page(focused="4"), past, Random(s), Memory()) for s in range(60)]
    pressed = [a for a in actions if isinstance(a, Press)]
    assert pressed and all(a == Press("4", "Enter") for a in pressed)


def test_an_empty_tab_is_left_or_used():
    tabs = (Tab(url="http://a/x", title=""), Tab(url="about:blank", title=""))
    empty = page("RootWebArea ''", url="about:blank", tabs=tabs, active_tab=1)
    actions = {choose_action(empty, (), Random(s), Memory()) for s in range(30)}
    assert actions == {Goto("http://a/x"), TabClose()}


def test_a_page_without_elements():
    action = choose_action(page("RootWebArea ''", tabs=()), (), Random(0), Memory())
    assert check_action(page("RootWebArea ''"), action) is None


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("textbox 'Email address'", "@"),
        ("textbox 'Phone'", "+555"),
        ("spinbutton 'Quantity', valuemin=2, valuemax=3", ("2", "3")),
        ("Date 'From'", "-"),
        ("InputTime 'At'", ":"),
        ("ColorWell 'Colour'", "#"),
        ("textbox 'City'", ("Berlin", "Lyon", "Osaka")),
    ],
)
def test_text_that_fits(line, fits):
    tree = read_tree(f"RootWebArea 'x'\n\t[1] {line}")
    for seed in range(5):
        text = plausible_text(tree, tree[1], Random(seed))
        assert text in fits if isinstance(fits, tuple) else fits in text
