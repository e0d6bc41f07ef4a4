"""Let the page finish what an action began, without sleeping.

Page time is ours (`clock.js`): timers and animations are run to their end at once. What remains to
wait for in real time is navigation, and one frame for layout observers and scroll events.
"""

import asyncio
import logging

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame

from dynaweb.browser.page import LivePage, first_line
from dynaweb.errors import BrowserError

# The page may have no clock (error pages, plain text).
SETTLE = "(window.__dynawebClock ? window.__dynawebClock.settle({floor}, {cap}, {frames}) : 0)"
MAX_NAVIGATIONS = 10
FRAME_SEC = 3.0
"""Real time for a frame: answers from its server may take two seconds."""

log = logging.getLogger(__name__)


async def settle(live: LivePage, floor_ms: int, cap_ms: int, frames: int = 1) -> None:
    """Wait for navigation, then run page time until nothing is pending, in the page and in the frames inside it.

    Args:
        live: the tab.
        floor_ms: page time that passes at least, in ms.
        cap_ms: page time that passes at most, in ms.
        frames: drawn frames to wait for in real time; scroll events and layout observers need one.

    Raises:
        BrowserError: the page is gone. The caller sets the deadline.
    """
    await _settle_page(
        live, SETTLE.format(floor=floor_ms, cap=max(floor_ms, cap_ms), frames=frames)
    )
    inside = live.foreign.inside()
    if inside:
        await asyncio.gather(*[_settle_frame(f, floor_ms, cap_ms) for f in inside])
        # what they did may have begun something in the page
        await _settle_page(live, SETTLE.format(floor=0, cap=cap_ms, frames=1))


async def _settle_frame(frame: Frame, floor_ms: int, cap_ms: int) -> None:
    """Frames have clocks of their own; one that has gone, or hangs, is not waited for."""
    expression = SETTLE.format(floor=floor_ms, cap=max(floor_ms, cap_ms), frames=1)
    try:
        async with asyncio.timeout(FRAME_SEC):
            await frame.evaluate(expression)
    except (PlaywrightError, TimeoutError) as error:
        log.debug("a frame did not settle: %s", first_line(error))


async def _settle_page(live: LivePage, expression: str) -> None:
    for _ in range(MAX_NAVIGATIONS):
        if live.loading:
            await live.loaded()
        if live.crashed:
            raise BrowserError("the page crashed")
        try:
            await live.evaluate(expression)
        except BrowserError as error:
            # A script that navigates takes its own world away while we wait in it.
            if "context was destroyed" in str(error) or "navigated" in str(error):
                continue
            raise
        if not live.loading:
            return
    raise BrowserError(f"the page navigated {MAX_NAVIGATIONS} times without coming to rest")
