"""Let the page finish what an action began, without sleeping.

Page time is ours (`clock.js`): timers and animations are run to their end at once. What remains to
wait for in real time is navigation, and one frame for layout observers and scroll events.
"""

from dynaweb.browser.page import LivePage
from dynaweb.errors import BrowserError

# The page may have no clock (error pages, plain text).
SETTLE = "(window.__dynawebClock ? window.__dynawebClock.settle({floor}, {cap}, {frames}) : 0)"
MAX_NAVIGATIONS = 10


async def settle(live: LivePage, floor_ms: int, cap_ms: int, frames: int = 1) -> None:
    """Wait for navigation, then run page time until nothing is pending.

    Args:
        live: the tab.
        floor_ms: page time that passes at least, in ms.
        cap_ms: page time that passes at most, in ms.
        frames: drawn frames to wait for in real time; scroll events and layout observers need one.

    Raises:
        BrowserError: the page is gone. The caller sets the deadline.
    """
    for _ in range(MAX_NAVIGATIONS):
        if live.loading:
            await live.loaded()
        if live.crashed:
            raise BrowserError("the page crashed")
        try:
            await live.evaluate(
                SETTLE.format(floor=floor_ms, cap=max(floor_ms, cap_ms), frames=frames)
            )
        except BrowserError as error:
            # A script that navigates takes its own world away while we wait in it.
            if "context was destroyed" in str(error) or "navigated" in str(error):
                continue
            raise
        if not live.loading:
            return
    raise BrowserError(f"the page navigated {MAX_NAVIGATIONS} times without coming to rest")
