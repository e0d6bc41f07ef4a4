"""Everything that can be acted on is on the page with a bid, and acting on it by that bid does what it does for a person."""

import pytest
from tests.browser.plain import bid, said, value

from dynaweb.axtree.tree import read_tree
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.records.action import Action, Click, Fill, SelectOption
from dynaweb.records.observation import Observation

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

CLICKED = {
    "Only a listener": "clicked listener",
    "Only a hand": "clicked hand",
    "A paragraph": "clicked para",
    "A strong word": "clicked strong",
    "A heading": "clicked heading",
    "An item": "clicked item",
    "A label alone": "clicked label",
    "Dark mode": "changed switch",
    "Wrapped": "changed radio",
    "Draw": "clicked canvas",
    "An area": "went to #area",
    "Drawn link": "went to #svg",
    "In a frame": "clicked in the frame",
    "In a deeper frame": "clicked deeper",
    "In closed shadow": "clicked shadow",
    "Far below": "clicked below",
}


async def done(env: BrowserEnvironment, page: Observation, action: Action) -> Observation:
    step = await env.step(action)
    assert step.observation.last_action_error == "", action
    return step.observation


async def test_what_reacts_is_reached_wherever_it_is(env: BrowserEnvironment) -> None:
    page = await env.reset("reach", 0)
    for name, heard in CLICKED.items():
        page = await done(env, page, Click(bid(page, name)))
        assert said(page) == heard, name


async def test_a_row_that_reacts_is_clickable(env: BrowserEnvironment) -> None:
    page = await env.reset("reach", 0)
    row = next(n for n in read_tree(page.tree) if n.name == "One Two")
    assert row.bid is not None and row.attr("clickable") is True
    assert said(await done(env, page, Click(row.bid))) == "clicked row"


async def test_fields_and_lists_in_frames_and_editable_elements_take_text(
    env: BrowserEnvironment,
) -> None:
    page = await env.reset("reach", 0)
    for name in ("Rich note", "Plain note", "Framed field"):
        page = await done(env, page, Fill(bid(page, name), f"into {name}"))
        assert said(page) == f"typed into {name}"
        assert value(page, name) == f"into {name}"
        assert page.focused == bid(page, name)
    page = await done(env, page, SelectOption(bid(page, "Framed list"), ("B",)))
    assert said(page) == "chose B"
    page = await done(env, page, SelectOption(bid(page, "Number"), ("One",)))
    assert said(page) == "changed select"


async def test_what_nobody_can_use_is_not_shown(env: BrowserEnvironment) -> None:
    """Hidden, inert, out of the page, folded away; and an element that is hidden from readers is hidden here too."""
    page = await env.reset("reach", 0)
    gone = ("Hidden from readers", "Inert", "Not drawn", "Invisible", "Skip", "For readers only")
    assert [name for name in (*gone, "Folded") if name in page.tree] == []
    page = await done(env, page, Click(bid(page, "Closed")))
    assert bid(page, "Folded") and bid(page, "Unfolded")


async def test_a_frame_stands_where_it_is_and_keeps_its_numbers(env: BrowserEnvironment) -> None:
    page = await env.reset("reach", 0)
    tree = read_tree(page.tree)
    at = next(i for i, n in enumerate(tree) if n.role == "Iframe" and n.name == "Frame")
    assert [(n.depth, n.role, n.name) for n in tree[at + 1 : at + 3]] == [
        (2, "button", "In a frame"),
        (2, "textbox", "Framed field"),
    ]
    after = await done(env, page, Click(bid(page, "In a frame")))
    assert read_tree(after.tree)[at:] == tree[at:]


async def test_nothing_of_the_machine_and_no_line_twice(env: BrowserEnvironment) -> None:
    page = await env.reset("reach", 0)
    tree = read_tree(page.tree)
    assert "InlineTextBox" not in page.tree and "127.0.0.1" not in page.tree
    assert all(n.attr("url") is None for n in tree)
    bids = [n.bid for n in tree if n.bid is not None]
    assert len(bids) == len(set(bids))
    assert [n.role for n in tree if n.name == "A paragraph"] == ["generic"]
