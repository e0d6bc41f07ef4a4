"""Read a page once nothing on it moves any more."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from dynaweb.browser.settle import MAX_NAVIGATIONS, settle
from dynaweb.browser.stopwatch import Part, Stopwatch
from dynaweb.browser.tabs import Tabs
from dynaweb.errors import BrowserError

T = TypeVar("T")


async def read_at_rest(
    tabs: Tabs,
    read: Callable[[], Awaitable[T]],
    *,
    floor_ms: int,
    cap_ms: int,
    frames: int,
    alive: Callable[[], bool],
    watch: Stopwatch,
) -> T:
    """Let the page settle, then read it; what was read while it went elsewhere is read again.

    Args:
        tabs: the open tabs; new ones are taken over.
        read: reads the active one.
        floor_ms: page time that passes at least, in ms.
        cap_ms: page time that passes at most, in ms.
        frames: drawn frames to wait for (`settle`).
        alive: whether the browser still runs.
        watch: counts settling and reading.

    Raises:
        BrowserError: the page is gone, or never rests.
    """
    for _ in range(MAX_NAVIGATIONS):
        live, moves = tabs.active, tabs.active.moves
        try:
            with watch.part(Part.SETTLE):
                await tabs.adopt_new()
                live = tabs.active
                cap = max(floor_ms, cap_ms)
                await settle(live, floor_ms, cap, frames)
                await tabs.adopt_new()
                if tabs.active is not live:
                    live = tabs.active
                    await settle(live, floor_ms, cap)
            moves = live.moves
            with watch.part(Part.OBSERVE):
                found = await read()
        except BrowserError:
            if live.crashed or not alive():
                raise
            if live.moves == moves and not await tabs.drop_closed():
                raise
            continue
        if live.moves == moves and not live.loading:
            return found
        floor_ms, frames = 0, 1
    raise BrowserError(f"the page went elsewhere {MAX_NAVIGATIONS} times while it was read")
