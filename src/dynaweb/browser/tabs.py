"""The open tabs of one episode: which is active, where each has been, and the numbers of their elements."""

import asyncio
from contextlib import suppress
from typing import cast

from playwright.async_api import Page

from dynaweb.browser.act import Refusal
from dynaweb.browser.nodes import BidMap
from dynaweb.browser.observe import View, observe
from dynaweb.browser.page import JsonObject, LivePage, adopt_page, open_page
from dynaweb.browser.safety import prepare
from dynaweb.errors import BrowserError
from dynaweb.records.action import Action, GoBack, GoForward, Goto, NewTab, TabClose, TabFocus
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.trajectory import Fault

MAX_TABS = 8
BLANK = "about:blank"
WINDOW_SEC = 3.0
CLOSE_NOTICE_SEC = 0.3


class Tabs:
    """Tabs of one browser context."""

    def __init__(self, first: LivePage) -> None:
        """Begin with one tab."""
        self.context = first.page.context
        self._tabs = [first]
        self._shown: list[Tab] = [Tab(url=BLANK, title="")]
        self._bids = [BidMap()]
        self._at = 0
        self._new: list[Page] = []
        self._expected = 0
        self._arrived = asyncio.Event()
        self.context.on("page", self._arrives)

    def _arrives(self, page: Page) -> None:
        self._new.append(page)
        self._arrived.set()

    def release(self) -> None:
        """Listen no more: the context outlives this episode."""
        self.context.remove_listener("page", self._arrives)

    @property
    def active(self) -> LivePage:
        """The tab that the agent sees."""
        return self._tabs[self._at]

    @property
    def bids(self) -> BidMap:
        """Numbers of the elements of the active tab."""
        return self._bids[self._at]

    async def observe(self, error: str) -> Observation:
        """What the agent sees now.

        Raises:
            BrowserError: the page is gone.
        """
        view, history = await asyncio.gather(
            observe(self.active, self.bids), self.active.send("Page.getNavigationHistory")
        )
        self._shown[self._at] = _tab(view, history)
        return Observation(
            url=view.url,
            title=view.title,
            tree=view.tree,
            tabs=tuple(self._shown),
            active_tab=self._at,
            scroll=view.scroll,
            focused=view.focused,
            last_action_error=error,
        )

    async def adopt_new(self) -> None:
        """Take over tabs that the page opened; the newest becomes active, as in a window.

        Raises:
            BrowserError: more tabs than an episode may have.
        """
        asked = sum(t.windows_opened for t in self._tabs)
        if asked > self._expected:
            self._expected = asked
            await self._wait_for_window()
        while self._new:
            page = self._new.pop(0)
            if page.is_closed() or any(t.page is page for t in self._tabs):
                continue
            if len(self._tabs) >= MAX_TABS:
                raise BrowserError(f"the page opened more than {MAX_TABS} tabs")
            self._add(await adopt_page(page))

    async def _wait_for_window(self) -> None:
        """The browser says at once that a window was asked for, and hands it over a little later."""
        try:
            async with asyncio.timeout(WINDOW_SEC):
                while not self._new:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            return  # it was blocked

    def _add(self, live: LivePage) -> None:
        self._tabs.append(live)
        self._shown.append(Tab(url=BLANK, title=""))
        self._bids.append(BidMap())
        self._at = len(self._tabs) - 1

    async def drop_closed(self) -> bool:
        """Forget tabs that the page closed, as a window does that says Close; whether there were any.

        Raises:
            BrowserError: no tab is left.
        """
        if not self.active.closed:
            # the call that a closing tab broke fails a moment before the tab is said to be closed
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_NOTICE_SEC):
                    await self.active.ended()
        gone = [i for i, t in enumerate(self._tabs) if t.closed]
        if len(gone) == len(self._tabs):
            raise BrowserError("the page closed its last tab")
        for i in reversed(gone):
            del self._tabs[i], self._shown[i], self._bids[i]
            self._at -= i <= self._at
        self._at = max(0, self._at)
        return bool(gone)

    async def navigate(self, action: Action, origins: tuple[str, ...]) -> Refusal | None:
        """History and tabs; the gate has passed.

        Returns:
            Why it cannot be; None when it was done.

        Raises:
            BrowserError: the page is gone.
        """
        match action:
            case GoBack():
                return await self._move(-1)
            case GoForward():
                return await self._move(1)
            case Goto(url):
                return await self._goto(action, url, origins)
            case NewTab():
                if len(self._tabs) >= MAX_TABS:
                    return Fault.IMPOSSIBLE, f"{MAX_TABS} tabs are open already; close one first"
                live = await open_page(self.context)
                self._new.clear()
                self._add(live)
            case TabFocus(index):
                self._at = index
                await self.active.page.bring_to_front()
            case TabClose():
                await self._close()
            case _:
                raise AssertionError(f"not a page-level action: {action!r}")
        return None

    async def _goto(self, action: Action, url: str, origins: tuple[str, ...]) -> Refusal | None:
        if url != BLANK and not any(url == o or url.startswith(o + "/") for o in origins):
            return (
                Fault.IMPOSSIBLE,
                f"{url[:80]!r} is outside this site; use {' or '.join(origins)}",
            )
        prepared = await prepare(self.active, action, self.bids)
        if isinstance(prepared, tuple):
            return prepared
        await self.active.goto(url)
        return None

    async def _move(self, by: int) -> Refusal | None:
        history = await self.active.send("Page.getNavigationHistory")
        at, entries = (
            cast("int", history["currentIndex"]) + by,
            cast("list[JsonObject]", history["entries"]),
        )
        if not 0 <= at < len(entries) or (at == 0 and entries[0]["url"] == BLANK):
            return Fault.IMPOSSIBLE, f"there is no page to go {'back' if by < 0 else 'forward'} to"
        await self.active.send("Page.navigateToHistoryEntry", {"entryId": entries[at]["id"]})
        return None

    async def _close(self) -> None:
        live = self._tabs.pop(self._at)
        del self._shown[self._at], self._bids[self._at]
        self._at = max(0, self._at - 1)
        await live.page.close()


def _tab(view: View, history: JsonObject) -> Tab:
    at = cast("int", history["currentIndex"])
    urls = [str(e["url"]) for e in cast("list[JsonObject]", history["entries"])]
    empty = (
        1 if urls[:1] == [BLANK] else 0
    )  # the empty page that every tab begins with is no place to go back to
    return Tab(
        url=view.url, title=view.title, back=tuple(urls[empty:at]), forward=tuple(urls[at + 1 :])
    )
