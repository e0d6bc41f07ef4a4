"""One tab: a Playwright page with a DevTools session of its own, and calls into it that cannot be fooled."""

import asyncio
import importlib.resources
from collections.abc import Mapping

from playwright.async_api import BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.foreign import ForeignFrames
from dynaweb.browser.nodes import Json as Json
from dynaweb.browser.nodes import JsonObject as JsonObject
from dynaweb.browser.nodes import in_frame, split_frame
from dynaweb.browser.realm import Gone as Gone
from dynaweb.browser.realm import Realm, value_of
from dynaweb.browser.realm import first_line as first_line
from dynaweb.errors import BrowserError

EPOCH_MS = 1_750_064_400_000
"""Page time at load: 2025-06-16 09:00 UTC, a Monday; every episode begins then."""
CRASHED, CLOSED = "the page crashed", "the page closed its tab"


def clock_script() -> str:
    """The script that gives the page its own time."""
    text = (
        importlib.resources.files("dynaweb.browser")
        .joinpath("clock.js")
        .read_text(encoding="utf-8")
    )
    return text.replace("__EPOCH_MS__", str(EPOCH_MS))


class LivePage:
    """A tab and the DevTools session that drives it."""

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        """Use `open_page` instead."""
        self.page = page
        self.cdp = cdp
        self._ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.main = Realm(cdp, self._ended)
        """The page itself and the frames that run in its process."""
        self.foreign = ForeignFrames(page, self.main, self._ended)
        self.mouse: tuple[float, float] | None = None
        self.windows_opened = 0
        """Windows that this page has asked for."""
        self.episodes = 0
        """Episodes that it has served."""
        self.moves = 0
        """Navigations of the main frame to another document that have begun or arrived."""
        self._idle = asyncio.Event()
        self._idle.set()

    async def begin(self) -> None:
        """Listen for navigation."""
        self.page.on("crash", self._crashes)
        self.page.on("close", self._closes)
        self.cdp.on("Page.frameRequestedNavigation", self._starts)
        self.cdp.on("Page.frameStartedNavigating", self._starts)
        self.cdp.on("Page.frameStoppedLoading", self._stops)
        self.cdp.on("Page.frameNavigated", self._navigated)
        self.cdp.on("Page.windowOpen", self._opens)
        await asyncio.gather(self.main.begin(), self.send("Page.enable"))

    @property
    def crashed(self) -> bool:
        """The page's process is gone."""
        return self._ended.done() and self._ended.result() == CRASHED

    @property
    def closed(self) -> bool:
        """The tab is closed, by the page itself or with its browser."""
        return self._ended.done() and self._ended.result() == CLOSED

    async def ended(self) -> None:
        """Wait until the page has crashed or its tab is closed."""
        await asyncio.shield(self._ended)

    def _crashes(self, _: Page) -> None:
        self._ends(CRASHED)

    def _closes(self, _: Page) -> None:
        self._ends(CLOSED)

    def _ends(self, how: str) -> None:
        if not self._ended.done():
            self._ended.set_result(how)
        self._idle.set()

    def _starts(self, event: Mapping[str, Json]) -> None:
        if (
            event.get("frameId") == self.main.frame
            and event.get("navigationType") != "sameDocument"
        ):
            self.moves += 1
            self._idle.clear()

    def _stops(self, event: Mapping[str, Json]) -> None:
        if event.get("frameId") == self.main.frame:
            self._idle.set()

    def _navigated(self, event: Mapping[str, Json]) -> None:
        frame = event.get("frame")
        if isinstance(frame, dict) and frame.get("id") == self.main.frame:
            self.moves += 1
            self.main.moved()

    def _opens(self, _: Mapping[str, Json]) -> None:
        self.windows_opened += 1

    @property
    def loading(self) -> bool:
        """A navigation of the main frame is under way."""
        return not self._idle.is_set()

    async def loaded(self) -> None:
        """Wait until no navigation is under way."""
        await self._idle.wait()

    async def send(self, method: str, params: Mapping[str, Json] | None = None) -> JsonObject:
        """One DevTools command to the page's own process.

        Raises:
            BrowserError: the page or the browser is gone, or refuses.
        """
        return await self.main.send(method, params)

    async def goto(self, url: str, *, must_exist: bool = False) -> None:
        """Open an address and wait for its load event.

        Args:
            url: where to go.
            must_exist: an error status is a fault of ours, not a page to show.

        Raises:
            BrowserError: it could not be loaded.
        """
        try:
            response = await self.page.goto(url, wait_until="load", timeout=0)
        except PlaywrightError as error:
            raise BrowserError(f"cannot open {url!r}: {first_line(error)}") from error
        if must_exist and response is not None and not response.ok:
            raise BrowserError(f"cannot open {url!r}: the server says {response.status}")

    async def evaluate(self, expression: str) -> Json:
        """A JavaScript expression in the page's own world; promises are awaited.

        Raises:
            BrowserError: it threw, or the page is gone.
        """
        return value_of(
            await self.send(
                "Runtime.evaluate",
                {
                    "expression": expression,
                    "awaitPromise": True,
                    "returnByValue": True,
                    "userGesture": True,
                },
            )
        )

    async def look(self, expression: str) -> Json:
        """A JavaScript expression that reads the page, out of its reach.

        Raises:
            BrowserError: it threw, or the page is gone.
        """
        return await self.main.look(expression)

    async def call(self, function: str, backend: int, *arguments: Json) -> Json:
        """Call a JavaScript function with an element as `this`, out of the page's reach.

        Raises:
            Gone: the element left the page.
            BrowserError: it threw, or the page is gone.
        """
        realm, own = self.realm_of(backend)
        return await realm.call(function, own, *arguments)

    def realm_of(self, backend: int) -> tuple[Realm, int]:
        """Who speaks for a node, and the node's id there; raises Gone."""
        frame, own = split_frame(backend)
        return (self.foreign.realm(frame) if frame else self.main), own

    async def holder(self, backend: int, outward: int) -> int:
        """The element that holds the frame a node is in, or one so many frames around that.

        Raises:
            Gone: the node left the page. BrowserError: the page is gone.
        """
        frame, own = split_frame(backend)
        realm, _ = self.realm_of(backend)
        held = await realm.holder(own, outward)
        return await self.foreign.owner(frame) if held is None else in_frame(frame, held)


async def open_page(context: BrowserContext) -> LivePage:
    """A new tab in the context.

    Raises:
        BrowserError: the browser is gone.
    """
    try:
        page = await context.new_page()
    except PlaywrightError as error:
        raise BrowserError(f"no new tab: {first_line(error)}") from error
    return await adopt_page(page)


async def adopt_page(page: Page) -> LivePage:
    """Take over a tab that the browser opened.

    Raises:
        BrowserError: the tab is gone.
    """
    try:
        live = LivePage(page, await page.context.new_cdp_session(page))
    except PlaywrightError as error:
        raise BrowserError(f"no session with the tab: {first_line(error)}") from error
    await live.begin()
    try:
        await page.wait_for_load_state("load", timeout=0)  # it may have begun before we listened
    except PlaywrightError as error:
        raise BrowserError(f"the tab did not load: {first_line(error)}") from error
    return live
