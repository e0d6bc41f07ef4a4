"""A used tab made as good as new: a page of a known site is left behind, a new tab costs three times its load.

For sites of fixed pages alone (MiniWoB++). What a tab carries from one page of a site to the next is storage,
its name and history, and what is held down; everything else goes with the document. The tab stays where it is until
the next episode opens its page: a visit to `about:blank` in between makes Chromium send the next page mouse events that
no new tab gets.
"""

import asyncio
from collections.abc import Iterable, Sequence

from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.page import LivePage, first_line
from dynaweb.errors import BrowserError
from dynaweb.records.action import (
    Action,
    Clear,
    Click,
    Dblclick,
    Fill,
    Focus,
    Hover,
    Noop,
    Press,
    ReportInfeasible,
    Scroll,
    SelectOption,
    SendMsgToUser,
)

GENTLE = (
    Clear, Click, Dblclick, Fill, Focus, Hover, Noop, Press, ReportInfeasible, Scroll, SelectOption, SendMsgToUser,
)  # fmt: skip
"""Actions that hold nothing down, open nothing and go nowhere by themselves."""

FORGET = "(() => { localStorage.clear(); sessionStorage.clear(); window.name = ''; })()"


def is_renewable(live: LivePage, actions: Iterable[Action | None], origins: Sequence[str]) -> bool:
    """Whether the tab may serve another episode of its site: it is where it should be, and nobody did anything lasting."""
    return (
        not (live.crashed or live.loading or live.windows_opened)
        and any(live.page.url.startswith(f"{o}/") for o in origins)
        and len(live.page.context.pages) == 1
        and all(isinstance(action, GENTLE) for action in actions)
    )


async def renew(live: LivePage, origins: Sequence[str]) -> None:
    """Forget what the last episode left: storage of the site, cookies, permissions, the tab's name, where the mouse was.

    The navigation history goes when the site begins an episode.

    Raises:
        BrowserError: the tab is gone.
    """
    live.mouse = None
    await live.look(FORGET)
    clear: list[dict[str, str]] = [{"origin": o, "storageTypes": "all"} for o in origins]
    try:
        await asyncio.gather(
            live.page.context.clear_cookies(),
            live.page.context.clear_permissions(),
            *(live.send("Storage.clearDataForOrigin", dict(each)) for each in clear),
        )
    except PlaywrightError as error:
        raise BrowserError(f"the tab cannot be cleaned: {first_line(error)}") from error
