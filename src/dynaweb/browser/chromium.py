"""Find a Chromium, start it once, hand out fresh contexts, and clean up whatever happens."""

import asyncio
import logging
import shutil
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.egress.way import WayOut
from dynaweb.browser.page import LivePage, clock_script, first_line, open_page
from dynaweb.browser.renewal import renew
from dynaweb.browser.running import HOW_TO_INSTALL, Running, launch
from dynaweb.errors import BrowserError, MissingDependencyError

log = logging.getLogger(__name__)

# Nobody listens there: what a page asks for goes nowhere unless it is let past.
DEAD_PROXY = "--proxy-server=http://127.0.0.1:9"

NAMES = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
PROBE_SEC = 10.0
"""Time for a browser that failed an episode to show that it still works."""

ARGS = (
    "--disable-quic",
    "--dns-prefetch-disable",
    # which of the two is heeded differs between builds; without it, STUN packets leave past any proxy
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # shared workers outlive their page, and no page's session sees what they send
    "--disable-blink-features=SharedWorker",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--no-pings",
    "--disable-smooth-scrolling",
    "--font-render-hinting=none",
)


def find_chromium(explicit: str = "") -> str:
    """Path of a Chromium on this machine; empty when only Playwright's own may be there.

    Raises:
        MissingDependencyError: `explicit` was given and is not a program.
    """
    if explicit:
        found = shutil.which(explicit)
        if found is None:
            raise MissingDependencyError(
                f"no browser at {explicit!r}: {HOW_TO_INSTALL}, or give another path"
            )
        return found
    return next((path for name in NAMES if (path := shutil.which(name))), "")


class BrowserPool:
    """One Chromium for all episodes; a fresh context (cookies, storage, cache) for each.

    A Chromium or driver that died or hangs is replaced at the next `page()`.
    """

    def __init__(
        self,
        config: BrowserConfig,
        hosts: Mapping[str, str] | None = None,
        reach: Sequence[str] = (),
        way: WayOut | None = None,
    ) -> None:
        """Start nothing yet; `page` or `start` does.

        Args:
            config: settings.
            hosts: name -> `address:port` on this machine, so that pages have the same address in
                every run whatever port they are served on. With any, pages reach these and nothing
                else; without, all of loopback.
            reach: other names of this machine that pages may reach; none by default. Where a name
                leads is not looked at: what is not on this machine needs a way out.
            way: through the proxy, for everything that `hosts` does not name; nothing goes past it.
        """
        self.config = config
        self.running: Running | None = None
        """What runs now; None before the first episode and after `close`."""
        self._hosts = dict(hosts or {})
        self._reach = tuple(reach)
        self._way = way
        self._lock = asyncio.Lock()
        self._doubted = False
        self._ready: deque[asyncio.Task[LivePage]] = deque()
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def alive(self) -> bool:
        """Chromium and its driver run."""
        return self.running is not None and self.running.alive

    def doubt(self) -> None:
        """An episode failed, and the browser may be why: it must show that it works before the next one."""
        self._doubted = True

    async def start(self) -> None:
        """Start Chromium if it is not running; replace it if it does not work any more.

        Raises:
            MissingDependencyError: there is no Chromium, or it cannot start on this machine.
        """
        async with self._lock:
            if self.running is not None and self.alive:
                if not self._doubted:
                    return
                self._doubted = False
                if await self.running.answers(PROBE_SEC):
                    return
            if self.running is not None:
                log.warning("Chromium is gone or does not answer; starting it again")
                await self._end(politely=False)
            self._doubted = False
            path = find_chromium(self.config.executable)
            self.running = await launch(path, [*ARGS, *self._ways_out()])

    def _ways_out(self) -> list[str]:
        if self._way is not None:
            return self._way.chromium_args(self._hosts)
        if not self._hosts and not self._reach:
            return [DEAD_PROXY]  # Chromium lets loopback past a proxy
        # what comes first counts; the last rule covers addresses too
        maps = [f"MAP {name}:80 {address}" for name, address in self._hosts.items()]
        rules = [*maps, "MAP * ~NOTFOUND", *(f"EXCLUDE {name}" for name in self._reach)]
        return [
            DEAD_PROXY,
            f"--host-resolver-rules={','.join(rules)}",
            f"--proxy-bypass-list=<-loopback>;{';'.join((*self._hosts, *self._reach))}",
        ]

    async def page(self) -> LivePage:
        """An empty tab in a context that no episode has used.

        Raises:
            BrowserError: the browser does not answer. MissingDependencyError: there is none.
        """
        await self.start()
        while self._ready:
            task = self._ready.popleft()
            try:
                live = await task
            except BrowserError as error:
                log.debug("a prepared tab was lost: %s", error)
                continue
            if not live.crashed:
                return live
            self.discard(live.page.context)
        return await self._fresh()

    def prepare(self) -> None:
        """Make the tab of a coming episode in the background."""
        if len(self._ready) < self.config.prefetch:
            self._get_ready(self._fresh())

    def keep(self, live: LivePage, origins: Sequence[str]) -> None:
        """Clean a tab in the background, for a coming episode of the same site.

        Args:
            live: a tab that `renewal.is_renewable`.
            origins: addresses of the site.
        """
        self._get_ready(self._renewed(live, origins))

    def _get_ready(self, work: Coroutine[None, None, LivePage]) -> None:
        task = asyncio.create_task(work)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._ready.append(task)

    async def _renewed(self, live: LivePage, origins: Sequence[str]) -> LivePage:
        try:
            await renew(live, origins)
        except BrowserError:
            self.discard(live.page.context)
            raise
        return live

    async def _fresh(self) -> LivePage:
        browser = self.running.browser if self.running is not None else None
        if browser is None:
            raise BrowserError("the browser is closed")
        try:
            context = await browser.new_context(
                viewport={"width": self.config.width_px, "height": self.config.height_px},
                locale="en-US",
                timezone_id="UTC",
                accept_downloads=False,
                service_workers="block",
            )
            await context.add_init_script(clock_script())
        except PlaywrightError as error:
            raise BrowserError(f"no new browser context: {first_line(error)}") from error
        return await open_page(context)

    def discard(self, context: BrowserContext) -> None:
        """Close a context without waiting for it."""
        task = asyncio.create_task(self._close_context(context))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close_context(self, context: BrowserContext) -> None:
        try:
            async with asyncio.timeout(PROBE_SEC):
                await context.close()
        except (PlaywrightError, TimeoutError) as error:
            log.debug("context did not close: %s", first_line(error))
            self.doubt()

    async def quiet(self) -> None:
        """Wait until nothing is done in the background: a measurement pays for what it began."""
        await asyncio.gather(*self._ready, *self._closing, return_exceptions=True)

    async def settled(self) -> None:
        """Wait until every context that was given up is closed."""
        await asyncio.gather(*self._closing, return_exceptions=True)

    async def close(self) -> None:
        """Close Chromium and its driver; nothing of them is left. Safe to call twice."""
        if self.alive:
            await self.settled()
        async with self._lock:
            await self._end(politely=self.alive)

    async def _end(self, *, politely: bool) -> None:
        tasks = [*self._ready, *self._closing]
        self._ready.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        running, self.running = self.running, None
        if running is not None:
            await running.close(politely=politely)
