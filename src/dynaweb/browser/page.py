"""One tab: a Playwright page with a DevTools session of its own, and calls into it that cannot be fooled.

Element calls run in an isolated JavaScript world: the page cannot replace what they use.
"""

import asyncio
import importlib.resources
from collections.abc import Mapping
from typing import TypeAlias

from playwright.async_api import BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from dynaweb.errors import BrowserError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, Json]

EPOCH_MS = 1_750_064_400_000
"""Page time at load: 2025-06-16 09:00 UTC, a Monday; every episode begins then."""
WORLD = "dynaweb"


def clock_script() -> str:
    """The script that gives the page its own time."""
    text = (
        importlib.resources.files("dynaweb.browser")
        .joinpath("clock.js")
        .read_text(encoding="utf-8")
    )
    return text.replace("__EPOCH_MS__", str(EPOCH_MS))


def first_line(error: BaseException) -> str:
    """What an error says, without its call log."""
    return (str(error).splitlines() or [type(error).__name__])[0]


class Gone(Exception):  # noqa: N818  # not an error of ours: the element left the page
    """The element is no longer part of the page."""


class LivePage:
    """A tab and the DevTools session that drives it."""

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        """Use `open_page` instead."""
        self.page = page
        self.cdp = cdp
        self._crash: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self.mouse: tuple[float, float] | None = None
        self.windows_opened = 0
        """Windows that this page has asked for."""
        self._idle = asyncio.Event()
        self._idle.set()
        self._frame = ""
        self._world: int | None = None

    async def begin(self) -> None:
        """Listen for navigation."""
        self.page.on("crash", self._crashes)
        self.cdp.on("Page.frameRequestedNavigation", self._starts)
        self.cdp.on("Page.frameStartedNavigating", self._starts)
        self.cdp.on("Page.frameStoppedLoading", self._stops)
        self.cdp.on("Page.frameNavigated", self._navigated)
        self.cdp.on("Page.windowOpen", self._opens)
        frames, _ = await asyncio.gather(
            self.send("Page.getFrameTree"),
            self.send("Page.enable"),
        )
        tree = frames["frameTree"]
        assert isinstance(tree, dict) and isinstance(tree["frame"], dict)
        self._frame = str(tree["frame"]["id"])

    @property
    def crashed(self) -> bool:
        """The page's process is gone."""
        return self._crash.done()

    def _crashes(self, _: Page) -> None:
        if not self._crash.done():
            self._crash.set_result({})
        self._idle.set()

    def _starts(self, event: Mapping[str, Json]) -> None:
        if event.get("frameId") == self._frame and event.get("navigationType") != "sameDocument":
            self._idle.clear()

    def _stops(self, event: Mapping[str, Json]) -> None:
        if event.get("frameId") == self._frame:
            self._idle.set()

    def _navigated(self, event: Mapping[str, Json]) -> None:
        frame = event.get("frame")
        if isinstance(frame, dict) and frame.get("id") == self._frame:
            self._world = None

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
        """One DevTools command.

        Raises:
            BrowserError: the page or the browser is gone, or refuses.
        """
        call: asyncio.Future[JsonObject] = asyncio.ensure_future(
            self.cdp.send(method, dict(params or {}))
        )
        try:
            # A crashed page never answers.
            await asyncio.wait({call, self._crash}, return_when=asyncio.FIRST_COMPLETED)
            if not call.done():
                raise BrowserError("the page crashed")
            answer: JsonObject = call.result()
        except PlaywrightError as error:
            raise BrowserError(f"{method}: {first_line(error)}") from error
        finally:
            call.cancel()
        return answer

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
        return _value(
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

    async def call(self, function: str, backend: int, *arguments: Json) -> Json:
        """Call a JavaScript function with an element as `this`, out of the page's reach.

        Raises:
            Gone: the element left the page.
            BrowserError: it threw, or the page is gone.
        """
        world = await self._isolated()
        try:
            found = await self.send(
                "DOM.resolveNode", {"backendNodeId": backend, "executionContextId": world}
            )
        except BrowserError as error:
            if "No node" in str(error) or "does not belong" in str(error):
                raise Gone from error
            raise
        handle = found["object"]
        assert isinstance(handle, dict)
        answer = await self.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "objectId": handle["objectId"],
                "arguments": [{"value": a} for a in arguments],
                "awaitPromise": True,
                "returnByValue": True,
                "userGesture": True,
            },
        )
        return _value(answer)

    async def _isolated(self) -> int:
        if self._world is None:
            made = await self.send(
                "Page.createIsolatedWorld", {"frameId": self._frame, "worldName": WORLD}
            )
            number = made["executionContextId"]
            assert isinstance(number, int)
            self._world = number
        return self._world


def _value(answer: JsonObject) -> Json:
    problem = answer.get("exceptionDetails")
    if isinstance(problem, dict):
        thrown = problem.get("exception")
        text = thrown.get("description") if isinstance(thrown, dict) else problem.get("text")
        raise BrowserError(f"the page's script failed: {str(text).splitlines()[0]}")
    result = answer.get("result")
    return result.get("value") if isinstance(result, dict) else None


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
    return live
