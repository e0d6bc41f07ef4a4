"""Mouse and keyboard by themselves: at a point of the viewport, or wherever the keyboard is.

Points are CSS pixels from the viewport's upper left corner, as in BrowserGym's coordinate actions. A
button or key that is held stays held until an action lets go of it, or the episode ends.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal, TypeAlias, cast

from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.nodes import BidMap
from dynaweb.browser.page import LivePage
from dynaweb.errors import ActionError
from dynaweb.records.action import (
    Action,
    Fill,
    KeyboardDown,
    KeyboardInsertText,
    KeyboardPress,
    KeyboardType,
    KeyboardUp,
    MouseClick,
    MouseDblclick,
    MouseDown,
    MouseDragAndDrop,
    MouseMove,
    MouseUp,
    ScrollAt,
)
from dynaweb.records.secrets import Secrets
from dynaweb.records.trajectory import Fault

Refusal: TypeAlias = tuple[Fault, str]
Button: TypeAlias = Literal["left", "middle", "right"]
Do: TypeAlias = Callable[[LivePage, Action, BidMap], Awaitable[Refusal | None]]

DRAG_STEPS = 8
BUTTONS = {"left": 1, "right": 2, "middle": 4}
"""Button -> its bit in DevTools' mask of pressed buttons."""


def with_secrets(action: Action, secrets: Secrets, origin: str) -> Action | Refusal:
    """The action with values in the place of names, to be done at once and kept nowhere; or why it cannot be.

    Args:
        action: as the agent wrote it.
        secrets: what it may use.
        origin: of the page that will get them.
    """
    try:
        match action:
            case Fill(_, value):
                return replace(action, value=secrets.reveal(value, origin))
            case KeyboardType(text) | KeyboardInsertText(text):
                return replace(action, text=secrets.reveal(text, origin))
            case _:
                return action
    except ActionError as error:
        return Fault.IMPOSSIBLE, str(error)


async def move_mouse(live: LivePage, x: float, y: float, steps: int = 1) -> Refusal | None:
    """Move the mouse to a point, or say that it is not on the page."""
    size = live.page.viewport_size
    if size is not None and not (0 <= x < size["width"] and 0 <= y < size["height"]):
        return (
            Fault.IMPOSSIBLE,
            f"the point ({x:g}, {y:g}) is outside the {size['width']} x {size['height']} pixels of the page",
        )
    await live.page.mouse.move(x, y, steps=steps)
    live.mouse = (x, y)
    return None


async def _mouse(live: LivePage, action: Action, _: BidMap) -> Refusal | None:
    assert isinstance(action, MouseMove | MouseDown | MouseUp | MouseClick | MouseDblclick)
    if not isinstance(action, MouseMove) and action.button not in BUTTONS:
        return Fault.MALFORMED, f"button must be one of {', '.join(BUTTONS)}"
    refusal = await move_mouse(live, action.x, action.y)
    if refusal is not None:
        return refusal
    mouse = live.page.mouse
    match action:
        case MouseDown():
            await mouse.down(button=_button(action.button))
        case MouseUp():
            await mouse.up(button=_button(action.button))
        case MouseClick():
            await mouse.click(action.x, action.y, button=_button(action.button))
        case MouseDblclick():
            await mouse.dblclick(action.x, action.y, button=_button(action.button))
        case MouseMove():
            pass
    return None


def _button(name: str) -> Button:
    assert name in BUTTONS
    return cast("Button", name)


async def _drag(live: LivePage, action: Action, _: BidMap) -> Refusal | None:
    assert isinstance(action, MouseDragAndDrop)
    refusal = await move_mouse(live, action.from_x, action.from_y)
    if refusal is not None:
        return refusal
    await live.page.mouse.down()
    try:
        return await move_mouse(live, action.to_x, action.to_y, DRAG_STEPS)
    finally:
        await live.page.mouse.up()


async def _scroll(live: LivePage, action: Action, _: BidMap) -> Refusal | None:
    assert isinstance(action, ScrollAt)
    refusal = await move_mouse(live, action.x, action.y)
    if refusal is None:
        await live.page.mouse.wheel(action.dx, action.dy)
    return refusal


async def _keyboard(live: LivePage, action: Action, _: BidMap) -> Refusal | None:
    keyboard = live.page.keyboard
    match action:
        case KeyboardType(text):
            await keyboard.type(text)
        case KeyboardInsertText(text):
            await keyboard.insert_text(text)
        case KeyboardDown(key):
            return await press_key(keyboard.down, key)
        case KeyboardUp(key):
            return await press_key(keyboard.up, key)
        case KeyboardPress(key):
            return await press_key(keyboard.press, key)
        case _:
            raise AssertionError(f"not a keyboard action: {action!r}")
    return None


async def press_key(press: Callable[[str], Awaitable[None]], key: str) -> Refusal | None:
    """Press, hold or let go of a key, or say that there is no such key.

    Raises:
        playwright.async_api.Error: the page is gone.
    """
    try:
        await press(key)
    except PlaywrightError as error:
        if "Unknown key" in str(error):
            return (
                Fault.MALFORMED,
                f"there is no key {key[:40]!r}; write Enter, Tab, a, Control+a",
            )
        raise
    return None


DEVICES: dict[type[Action], Do] = {
    MouseMove: _mouse,
    MouseDown: _mouse,
    MouseUp: _mouse,
    MouseClick: _mouse,
    MouseDblclick: _mouse,
    MouseDragAndDrop: _drag,
    ScrollAt: _scroll,
    KeyboardDown: _keyboard,
    KeyboardUp: _keyboard,
    KeyboardPress: _keyboard,
    KeyboardType: _keyboard,
    KeyboardInsertText: _keyboard,
}
"""Actions that name no element."""
