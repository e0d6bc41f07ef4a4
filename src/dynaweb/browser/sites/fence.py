"""Keep an episode on its site: a link to elsewhere does nothing, as on a machine without a network, but without an error page."""

import re

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Route

from dynaweb.browser.page import LivePage, first_line
from dynaweb.errors import BrowserError

NOTHING = 204
"""`No Content`: the browser stays on the page that it shows (RFC 9110, section 15.3.5)."""


async def keep_inside(live: LivePage, origin: str) -> None:
    """Answer every request to elsewhere with nothing, in all tabs of this episode.

    Raises:
        BrowserError: the page is gone.
    """
    elsewhere = re.compile(rf"^(?!{re.escape(origin)}(/|$))(https?|wss?|ftp):")

    async def answer(route: Route) -> None:
        await route.fulfill(status=NOTHING)

    try:
        await live.page.context.route(elsewhere, answer)
    except PlaywrightError as error:
        raise BrowserError(f"cannot keep the browser on {origin!r}: {first_line(error)}") from error
