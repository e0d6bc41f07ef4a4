"""Every kind of action on small pages of our own, in a real Chromium."""

import pytest
from tests.browser.plain import bid, said, value

from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.records.action import (
    Clear,
    Click,
    Dblclick,
    DragAndDrop,
    Fill,
    Focus,
    GoBack,
    GoForward,
    Goto,
    Hover,
    NewTab,
    Noop,
    Press,
    ReportInfeasible,
    Scroll,
    SelectOption,
    SendMsgToUser,
    TabClose,
    TabFocus,
)
from dynaweb.records.trajectory import Fault

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_click_is_a_real_click_with_buttons_and_modifiers(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    go = bid(page, "Go")
    assert said(await env.step(Click(go))) == "click trusted"
    assert said(await env.step(Click(go, modifiers=("Shift",)))) == "click trusted shift"
    assert said(await env.step(Click(go, button="right"))) == "menu"
    assert said(await env.step(Dblclick(go))) == "double"
    result = await env.step(Click(go, button="foot"))
    assert result.fault is Fault.MALFORMED and "foot" not in result.observation.tree


async def test_what_looks_like_a_link_can_be_clicked(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    assert "generic 'a word', clickable" in page.tree
    assert said(await env.step(Click(bid(page, "a word")))) == "word"


async def test_fill_replaces_text_by_real_input(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    name = bid(page, "Name")
    result = await env.step(Fill(name, "Ann 'O' \"x\" 确"))
    assert said(result) == "name input"
    assert value(result.observation, "Name") == "Ann 'O' \"x\" 确"
    assert result.observation.focused == name
    result = await env.step(Click(bid(page, "Go")))
    result = await env.step(Fill(name, ""))
    assert value(result.observation, "Name") is None
    await env.step(Fill(name, "again"))
    assert value((await env.step(Clear(name))).observation, "Name") is None


async def test_change_fires_when_the_field_is_left(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    await env.step(Fill(bid(page, "Name"), "new"))
    result = await env.step(Focus(bid(page, "Go")))
    assert said(result) == "name change"
    assert result.observation.focused == bid(page, "Go")


async def test_areas_secrets_dates_and_rich_text(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    shown = (await env.step(Fill(bid(page, "Note"), "two\nlines\there"))).observation
    assert value(shown, "Note") == "two\nlines\there"
    assert len(shown.tree.splitlines()) == len(page.tree.splitlines())
    assert value((await env.step(Fill(bid(page, "Secret"), "abc"))).observation, "Secret") == "•••"
    result = await env.step(Fill(bid(page, "Day"), "2024-02-30"))
    assert result.fault is Fault.IMPOSSIBLE
    assert "YYYY-MM-DD" in result.observation.last_action_error
    shown = (await env.step(Fill(bid(page, "Day"), "2024-02-29"))).observation
    assert value(shown, "Day") == "2024-02-29"
    shown = (await env.step(Fill(bid(page, "Rich"), "fair copy"))).observation
    assert value(shown, "Rich") == "fair copy"


async def test_press_keys_and_combinations(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    name = bid(page, "Name")
    assert said(await env.step(Press(name, "x"))) == "name input"
    assert said(await env.step(Press(name, "Enter"))) == "name change"
    assert said(await env.step(Press(name, "Control+a"))) == "key a control"
    await env.step(Press(name, "Backspace"))
    result = await env.step(Press(name, "Q"))
    assert value(result.observation, "Name") == "Q"
    result = await env.step(Press(bid(page, "a word"), "Q"))
    assert result.fault is Fault.IMPOSSIBLE and value(result.observation, "Name") == "Q"
    result = await env.step(Press(name, "NoSuchKey"))
    assert result.fault is Fault.MALFORMED and "NoSuchKey" in result.observation.last_action_error


async def test_select_one_and_many(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    result = await env.step(SelectOption(bid(page, "Fruit"), ("Pear",)))
    assert said(result) == "fruit change"
    assert value(result.observation, "Fruit") == "Pear"
    assert "option 'Pear', selected='true'" in result.observation.tree
    shown = (await env.step(SelectOption(bid(page, "Many"), ("One", "Three")))).observation
    assert shown.tree.count("selected='true'") == 3
    result = await env.step(SelectOption(bid(page, "Fruit"), ("Melon",)))
    assert result.fault is Fault.NOT_AN_OPTION
    result = await env.step(SelectOption(bid(page, "Fruit"), ("Fig",)))
    assert result.fault is Fault.NOT_AN_OPTION and value(result.observation, "Fruit") == "Pear"


async def test_checkbox_and_its_label(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    box = bid(page, "I agree")
    assert f"[{box}] checkbox 'I agree', checked='false'" in page.tree
    assert "'I agree', checked='true'" in (await env.step(Click(box))).observation.tree


async def test_hover_shows_and_hides(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    assert "Hidden entry" not in page.tree
    shown = (await env.step(Hover(bid(page, "Bar")))).observation
    assert "button 'Hidden entry'" in shown.tree
    assert "Hidden entry" not in (await env.step(Hover(bid(page, "Go")))).observation.tree


async def test_drag_and_drop(env: BrowserEnvironment) -> None:
    page = await env.reset("hard", 0)
    result = await env.step(DragAndDrop(bid(page, "from"), bid(page, "to")))
    assert said(result) == "dropped"


async def test_scroll_and_scroll_into_view(env: BrowserEnvironment) -> None:
    page = await env.reset("hard", 0)
    result = await env.step(Scroll(0, 300))
    assert result.observation.scroll == (0, 300) and said(result) == "scrolled"
    result = await env.step(Click(bid(page, "Far")))
    assert said(result) == "far" and result.observation.scroll[1] > 1000


async def test_noop_lets_page_time_pass(env: BrowserEnvironment) -> None:
    page = await env.reset("hard", 0)
    await env.step(Click(bid(page, "Loop")))
    first = said(await env.step(Noop(0.0)))
    assert said(await env.step(Noop(4000.0))) != first


async def test_history(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    assert (await env.step(GoBack())).fault is Fault.IMPOSSIBLE
    second = (await env.step(Click(bid(page, "Second page")))).observation
    assert second.title == "Second" and second.tabs[0].back == (page.url,)
    assert not set(_bids(second.tree)) & set(_bids(page.tree)), "new nodes have new numbers"
    back = (await env.step(GoBack())).observation
    assert back.title == "Controls" and back.tabs[0].forward == (second.url,)
    assert (await env.step(GoForward())).observation.title == "Second"
    third = (
        await env.step(Click(bid((await env.snapshot()).observation, "Back to controls")))
    ).observation
    assert third.title == "Controls"


async def test_goto_stays_on_the_site(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    there = page.url.replace("controls", "second")
    assert (await env.step(Goto(there))).observation.title == "Second"
    for url in ("https://example.org/", "http://127.0.0.1:1/", "file:///etc/passwd"):
        result = await env.step(Goto(url))
        assert result.fault is Fault.IMPOSSIBLE and result.observation.title == "Second"


async def test_tabs(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    opened = (await env.step(Click(bid(page, "New window")))).observation
    assert (opened.title, opened.active_tab, len(opened.tabs)) == ("Second", 1, 2)
    blank = (await env.step(NewTab())).observation
    assert (blank.url, blank.active_tab, len(blank.tabs)) == ("about:blank", 2, 3)
    assert (await env.step(TabFocus(0))).observation.tree == page.tree
    assert (await env.step(TabFocus(1))).observation.title == "Second"
    left = (await env.step(TabClose())).observation
    assert (left.title, len(left.tabs)) == ("Controls", 2)
    page = await env.reset("controls", 0)
    assert len(page.tabs) == 1
    assert (await env.step(TabClose())).fault is Fault.IMPOSSIBLE
    assert (await env.step(TabFocus(0))).observation.tree == page.tree


async def test_an_answer_ends_the_episode(env: BrowserEnvironment) -> None:
    for answer in (SendMsgToUser("42"), ReportInfeasible("no such thing")):
        page = await env.reset("controls", 0)
        result = await env.step(answer)
        assert result.terminated and result.reward == 0.0
        assert result.observation.tree == page.tree


def _bids(tree: str) -> list[str]:
    return [line.split("[")[1].split("]")[0] for line in tree.splitlines() if "[" in line]
