"""Stand between a browser context and the network: what the manners refuse is answered with nothing and never leaves.

Playwright shows the first request of every chain, those of new windows too; the hops of a redirect are shown by DevTools alone,
to a session of the tab. A window that opens at an address is a tab only once the address has answered, too late to see its hops:
where it leads is looked up first.
"""

import asyncio
from collections.abc import Coroutine, Mapping

from playwright.async_api import BrowserContext, Page, Route
from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.crawl.asking import MOST_HOPS, ask
from dynaweb.browser.crawl.manners import Manners
from dynaweb.browser.page import Json, LivePage, adopt_page, first_line
from dynaweb.browser.sites.fence import NOTHING
from dynaweb.errors import BrowserError

UNSEEN = frozenset({"image", "media", "font"})
"""What an accessibility tree does not show, so nobody is asked for it."""


class Gate:
    """The gate of one context."""

    def __init__(self, context: BrowserContext, manners: Manners) -> None:
        """Closed to nobody yet; see `keep_manners`."""
        self._context = context
        self._manners = manners
        self._tasks: set[asyncio.Task[None]] = set()

    async def first_hop(self, route: Route) -> None:
        """The first request of a chain."""
        request = route.request
        try:
            made = request.resource_type not in UNSEEN
            if made and not self._manners.refuses(request.url, request.method):
                made = await self._leads_well(route)
            else:
                made = False
            await (route.continue_() if made else route.fulfill(status=NOTHING))
        except PlaywrightError:
            return  # the tab was closed under it: nothing is sent

    async def _leads_well(self, route: Route) -> bool:
        """Whether the address of a new window leads nowhere that it may not."""
        request = route.request
        if request.method != "GET" or not request.is_navigation_request() or _has_frame(route):
            return True
        url, manners = request.url, self._manners
        for _ in range(MOST_HOPS + 1):
            jar = await self._context.cookies(url)
            cookies = "; ".join(f"{c.get('name')}={c.get('value')}" for c in jar)
            answer = await asyncio.to_thread(
                ask, url, manners.hosts, manners.header, cookies, body=False, way=manners.way
            )
            if not answer.location:
                return True
            url = answer.location
            if manners.refuses(url):
                return False
        return False

    def new_tab(self, page: Page) -> None:
        """A tab was opened."""
        self._later(self._watch_new(page))

    async def _watch_new(self, page: Page) -> None:
        try:
            await self.watch(await adopt_page(page))
        except BrowserError:
            return  # it is closed already

    async def watch(self, live: LivePage) -> None:
        """See the hops of a tab's redirects.

        Raises:
            BrowserError: the tab is gone.
        """

        def paused(event: Mapping[str, Json]) -> None:
            self._later(self._later_hop(live, event))

        live.cdp.on("Fetch.requestPaused", paused)
        await live.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    async def _later_hop(self, live: LivePage, event: Mapping[str, Json]) -> None:
        request, number = event["request"], event["requestId"]
        assert isinstance(request, dict)
        hop = event.get("redirectedRequestId") is not None
        try:
            if hop and self._manners.refuses(str(request["url"]), str(request["method"])):
                await live.send(
                    "Fetch.fulfillRequest", {"requestId": number, "responseCode": NOTHING}
                )
            else:
                await live.send("Fetch.continueRequest", {"requestId": number})
        except BrowserError:
            return  # the tab was closed under it: nothing is sent

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _has_frame(route: Route) -> bool:
    try:
        return route.request.frame is not None
    except PlaywrightError:  # the first request of a window that is no tab yet
        return False


async def keep_manners(live: LivePage, manners: Manners) -> None:
    """For all tabs of this episode.

    Raises:
        BrowserError: the page is gone.
    """
    context = live.page.context
    gate = Gate(context, manners)
    try:
        await context.route("**/*", gate.first_hop)
    except PlaywrightError as error:
        raise BrowserError(f"cannot keep requests back: {first_line(error)}") from error
    context.on("page", gate.new_tab)
    await gate.watch(live)
