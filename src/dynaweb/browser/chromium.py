"""Find a Chromium, start it once, hand out fresh contexts, and clean up whatever happens."""

import asyncio
import logging
import os
import shutil
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.page import LivePage, clock_script, first_line, open_page
from dynaweb.errors import BrowserError, MissingDependencyError

log = logging.getLogger(__name__)

NAMES = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
HOW_TO_INSTALL = (
    "install one with `apt-get install chromium-headless-shell` or `playwright install chromium`"
)
LAUNCH_SEC = 60.0

# A dead proxy for everything but loopback: pages cannot reach the network (Chromium lets loopback past a proxy).
ARGS = (
    "--proxy-server=http://127.0.0.1:9",
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

    A Chromium that died is started again at the next `context()`.
    """

    def __init__(self, config: BrowserConfig, hosts: Mapping[str, str] | None = None) -> None:
        """Start nothing yet; `context` or `start` does.

        Args:
            config: settings.
            hosts: name -> `address:port` on this machine, so that pages have the same address in
                every run whatever port they are served on.
        """
        self.config = config
        self._hosts = dict(hosts or {})
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._lock = asyncio.Lock()
        self._ready: deque[asyncio.Task[LivePage]] = deque()
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def alive(self) -> bool:
        """Chromium is running and answers its driver."""
        return self._browser is not None and self._browser.is_connected()

    async def start(self) -> None:
        """Start Chromium if it is not running.

        Raises:
            MissingDependencyError: there is no Chromium, or it cannot start on this machine.
        """
        async with self._lock:
            if self.alive:
                return
            if self._browser is not None:
                log.warning("Chromium is gone; starting it again")
            self._ready.clear()
            if self._playwright is None:
                self._playwright = await async_playwright().start()
            self._browser = await self._launch(self._playwright)

    async def _launch(self, playwright: Playwright) -> Browser:
        path = find_chromium(self.config.executable)
        if not path and not Path(playwright.chromium.executable_path).exists():
            raise MissingDependencyError(f"no Chromium found on this machine: {HOW_TO_INSTALL}")
        root = os.geteuid() == 0
        if root:
            log.info("running as root: Chromium starts without its sandbox")
        try:
            return await playwright.chromium.launch(
                executable_path=path or None,
                args=[*ARGS, *self._host_rules()],
                chromium_sandbox=not root,
                handle_sigint=False,
                timeout=LAUNCH_SEC * 1000,
            )
        except PlaywrightError as error:
            raise MissingDependencyError(
                f"{path or 'Chromium'} does not start: {_why(error)}"
            ) from error

    def _host_rules(self) -> list[str]:
        if not self._hosts:
            return []
        rules = ",".join(f"MAP {name}:80 {address}" for name, address in self._hosts.items())
        return [f"--host-resolver-rules={rules}", f"--proxy-bypass-list={';'.join(self._hosts)}"]

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
            task = asyncio.create_task(self._fresh())
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._ready.append(task)

    async def _fresh(self) -> LivePage:
        browser = self._browser
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
        task = asyncio.create_task(_close_context(context))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close Chromium and its driver; safe to call twice."""
        for task in self._ready:
            task.cancel()
        await asyncio.gather(*self._ready, *self._closing, return_exceptions=True)
        self._ready.clear()
        browser, self._browser = self._browser, None
        playwright, self._playwright = self._playwright, None
        if browser is not None:
            try:
                async with asyncio.timeout(10):
                    await browser.close()
            except (PlaywrightError, TimeoutError) as error:
                log.warning("Chromium did not close by itself: %s", first_line(error))
        if playwright is not None:
            await playwright.stop()


async def _close_context(context: BrowserContext) -> None:
    try:
        async with asyncio.timeout(10):
            await context.close()
    except (PlaywrightError, TimeoutError) as error:
        log.debug("context did not close: %s", first_line(error))


def _why(error: PlaywrightError) -> str:
    """The line of a launch log that says what is wrong, and what to do about it."""
    for line in str(error).splitlines():
        if "No usable sandbox" in line:
            return "this system does not allow its sandbox; allow unprivileged user namespaces"
        if "error while loading shared libraries" in line:
            return f"{line.strip()}; {HOW_TO_INSTALL}"
    return f"{first_line(error)}; {HOW_TO_INSTALL}"
