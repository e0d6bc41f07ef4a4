"""Do one action in the browser: a table from action to real input events. Nothing is executed as code.

The validity gate has passed before; what is left to refuse is what only the page knows: the element
is covered, outside every scrollable area, or gone.
"""

import asyncio
from typing import cast

from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.devices import BUTTONS, DEVICES, DRAG_STEPS, Do, press_key
from dynaweb.browser.devices import Refusal as Refusal
from dynaweb.browser.nodes import BidMap
from dynaweb.browser.page import Gone, Json, LivePage, first_line
from dynaweb.browser.safety import prepare
from dynaweb.browser.scripts import FOCUS, OUTWARD, POINT, PREPARE, SELECT
from dynaweb.errors import BrowserError
from dynaweb.records.action import (
    Action,
    Clear,
    Click,
    Dblclick,
    DragAndDrop,
    Fill,
    Focus,
    Hover,
    Press,
    Scroll,
    SelectOption,
)
from dynaweb.records.trajectory import Fault

MODIFIERS = {"Alt": 1, "Control": 2, "ControlOrMeta": 2, "Meta": 4, "Shift": 8}


async def act(live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
    """Do it. Page-level actions (history, tabs, waiting) and uploads belong to the environment.

    Returns:
        Why the page did not let it happen; None when it did.

    Raises:
        BrowserError: the page or the browser is gone.
    """
    do = TABLE[type(action)]
    try:
        prepared = await prepare(live, action, bids)
        return prepared if isinstance(prepared, tuple) else await do(live, prepared, bids)
    except Gone:
        return Fault.IMPOSSIBLE, "the element is gone from the page"
    except PlaywrightError as error:
        raise BrowserError(f"{type(action).__name__}: {first_line(error)}") from error


def _backend(bids: BidMap, bid: str) -> int:
    backend = bids.backend(bid)
    if backend is None:
        raise Gone
    return backend


def _problem(found: Json, bid: str, fault: Fault) -> Refusal | None:
    """What the element's script refused."""
    assert isinstance(found, dict)
    if found.get("gone"):
        raise Gone
    problem = found.get("problem")
    return (fault, f"element {bid!r} {problem}") if isinstance(problem, str) else None


async def _point(live: LivePage, bids: BidMap, bid: str) -> tuple[float, float] | Refusal:
    at = _backend(bids, bid)
    found = await live.call(POINT, at)
    while True:
        refusal = _problem(found, bid, Fault.IMPOSSIBLE)
        if refusal is not None:
            return refusal
        assert isinstance(found, dict)
        x, y = float(cast("float", found["x"])), float(cast("float", found["y"]))
        if "outward" not in found:
            return x, y
        at = await live.holder(at, cast("int", found["outward"]))
        found = await live.call(OUTWARD, at, x, y)


def _refused(found: tuple[float, float] | Refusal) -> Refusal | None:
    return found if isinstance(found[0], Fault) else None


async def _mouse(live: LivePage, kind: str, x: float, y: float, **more: Json) -> None:
    await live.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})
    live.mouse = (x, y)


async def _press_at(
    live: LivePage, bid: str, bids: BidMap, button: str, modifiers: tuple[str, ...], times: int
) -> Refusal | None:
    if button not in BUTTONS or any(m not in MODIFIERS for m in modifiers):
        return (
            Fault.MALFORMED,
            f"button must be one of {', '.join(BUTTONS)} and modifiers of {', '.join(MODIFIERS)}",
        )
    found = await _point(live, bids, bid)
    refusal = _refused(found)
    if refusal is not None:
        return refusal
    x, y = cast("tuple[float, float]", found)
    mask = sum({MODIFIERS[m] for m in modifiers})
    events = [_mouse(live, "mouseMoved", x, y, modifiers=mask)]
    for count in range(1, times + 1):
        more: dict[str, Json] = {"button": button, "clickCount": count, "modifiers": mask}
        events.append(_mouse(live, "mousePressed", x, y, buttons=BUTTONS[button], **more))
        events.append(_mouse(live, "mouseReleased", x, y, buttons=0, **more))
    await asyncio.gather(*events)  # sent in this order, and handled in it
    return None


async def _click(live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
    assert isinstance(action, Click)
    return await _press_at(live, action.bid, bids, action.button, action.modifiers, 1)


async def _dblclick(live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
    assert isinstance(action, Dblclick)
    return await _press_at(live, action.bid, bids, action.button, action.modifiers, 2)


async def _hover(live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
    assert isinstance(action, Hover)
    found = await _point(live, bids, action.bid)
    refusal = _refused(found)
    if refusal is None:
        await _mouse(live, "mouseMoved", *cast("tuple[float, float]", found))
    return refusal


async def _fill(live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
    assert isinstance(action, Fill | Clear)
    value = action.value if isinstance(action, Fill) else ""
    found = await live.call(PREPARE, _backend(bids, action.bid), value)
    assert isinstance(found, dict)
    fault = Fault.NOT_EDITABLE if found.get("editable") is False else Fault.IMPOSSIBLE
    refusal = _problem(found, action.bid, fault)
    if refusal is not None:
        return refusal
    if found.get("typed") and value:
        by_key = value[-1] if isinstance(action, Fill) and action.enable_autocomplete_menu else ""
        await live.send("Input.insertText", {"text": value.removesuffix(by_key)})
        await live.page.keyboard.type(by_key)
    elif found.get("typed") and not found.get("empty"):
        await live.page.keyboard.press("Delete")
    return None


async def _select(live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
    assert isinstance(action, SelectOption)
    found = await live.call(SELECT, _backend(bids, action.bid), list(action.options))
    return _problem(found, action.bid, Fault.NOT_AN_OPTION)


async def _focus(live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
    assert isinstance(action, Focus | Press)
    return _problem(
        await live.call(FOCUS, _backend(bids, action.bid)), action.bid, Fault.IMPOSSIBLE
    )


async def _press(live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
    assert isinstance(action, Press)
    refusal = await _focus(live, action, bids)
    if refusal is not None:
        return refusal
    return await press_key(live.page.keyboard.press, action.key_comb)


async def _drag(live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
    assert isinstance(action, DragAndDrop)
    for bid in (action.to_bid, action.from_bid):
        found = await _point(live, bids, bid)
        refusal = _refused(found)
        if refusal is not None:
            return refusal
    x, y = cast("tuple[float, float]", found)
    mouse = live.page.mouse
    await mouse.move(x, y)
    await mouse.down()
    try:
        target = await _point(live, bids, action.to_bid)
        refusal = _refused(target)
        if refusal is None:
            await mouse.move(*cast("tuple[float, float]", target), steps=DRAG_STEPS)
    finally:
        await mouse.up()
    return refusal


async def _scroll(live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
    """Over the place where the mouse is, as a hand on the wheel does."""
    assert isinstance(action, Scroll)
    size = live.page.viewport_size or {"width": 500, "height": 320}
    x, y = live.mouse or (size["width"] / 2, size["height"] / 2)
    await _mouse(live, "mouseWheel", x, y, deltaX=action.delta_x, deltaY=action.delta_y)
    return None


TABLE: dict[type[Action], Do] = {
    Click: _click,
    Dblclick: _dblclick,
    Hover: _hover,
    Fill: _fill,
    Clear: _fill,
    Press: _press,
    Focus: _focus,
    SelectOption: _select,
    DragAndDrop: _drag,
    Scroll: _scroll,
    **DEVICES,
}
"""Actions on the page itself; the rest is the environment's."""
