"""Open each page behind each wall and see what arrives outside: nothing may, and without a wall everything must."""

import asyncio
import http.server
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, async_playwright

from dynaweb.browser.chromium import BrowserPool, find_chromium
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.egress.inside.decide import Rules
from dynaweb.browser.egress.proxy import open_outlet
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.trial.sinks import Sink
from dynaweb.browser.trial.vectors import VECTORS, WORKER, Vector
from dynaweb.runs.progress import Progress, silent

HOST = "inside.localhost"
WAIT_SEC = 0.6
"""For what a page sends, once it is loaded."""
PAGE_SEC = 4.0
LATE_SEC = 3.0
"""The same at the very end of a wall, for everything that was slow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WallReport:
    """What one wall held."""

    wall: str
    """`none`, `named hosts` (sites on this machine) or `proxy` (live sites)."""
    tried: int
    """Vectors, each at every place outside."""
    places: tuple[str, ...]
    """Addresses and names that stand for the outside."""
    got_out: tuple[str, ...]
    """Vectors of which something arrived outside."""
    stayed: tuple[str, ...]
    """Vectors of which nothing arrived."""
    inside_served: int
    """Pages that the allowed host served: all of them, or nothing was tried."""
    late: int
    """Connections and datagrams that arrived outside after the last page; they belong to no vector."""

    @property
    def held(self) -> bool:
        """Nothing got out, and every page was really opened; without a wall, the reverse."""
        served = self.inside_served == self.tried * len(self.places)
        if self.wall == "none":
            idle = {v.name for v in VECTORS if v.idle}
            return served and set(self.stayed) <= idle
        return served and not self.got_out and not self.late


class Inside:
    """The allowed host: serves the pages, redirects, and a worker."""

    def __init__(self) -> None:
        """Start on a free port of 127.0.0.1."""
        self.pages: dict[str, str] = {}
        self.served: set[str] = set()
        inside = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                to = parse_qs(parts.query).get("to", [""])[0]
                if parts.path == "/redirect":
                    self._send(302, "text/plain", "", ("Location", to))
                elif parts.path == "/worker.js":
                    self._send(200, "text/javascript", WORKER)
                elif parts.path in inside.pages:
                    inside.served.add(parts.path)
                    self._send(200, "text/html; charset=utf-8", inside.pages[parts.path])
                else:
                    self._send(404, "text/plain", "no")

            def _send(self, status: int, kind: str, text: str, *more: tuple[str, str]) -> None:
                self.send_response(status)
                for name, value in (("Content-Type", kind), ("Content-Length", str(len(text.encode()))), *more):  # fmt: skip
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()
        self.port = self._server.server_port

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


async def try_walls(
    walls: Sequence[str],
    config: BrowserConfig,
    home: SiteHome,
    vectors: Sequence[Vector] = VECTORS,
    progress: Progress = silent,
) -> list[WallReport]:
    """Every vector behind every wall.

    Args:
        walls: of `none`, `named hosts`, `proxy`.
        config: settings of the browser.
        home: where the proxy is installed.
        vectors: which ways are tried.
        progress: a stage for each wall, in vectors.

    Raises:
        MissingDependencyError: there is no browser, or no proxy.
    """
    return [await _try_wall(wall, config, home, vectors, progress) for wall in walls]


async def _try_wall(
    wall: str, config: BrowserConfig, home: SiteHome, vectors: Sequence[Vector], progress: Progress
) -> WallReport:
    inside = Inside()
    # 127.0.0.2 is an address, `outside.localhost` a name that Chromium itself resolves to 127.0.0.1
    sinks = [Sink("127.0.0.2"), Sink("127.0.0.1")]
    places = (sinks[0].place, f"outside.localhost:{sinks[1].port}")
    got_out: list[str] = []
    try:
        async with _browser(wall, config, home, inside, progress) as (open_page, origin):
            for sink in sinks:
                sink.take()
            for at, vector in enumerate(vectors):
                progress(f"egress: {wall}", at, len(vectors), vector.name)
                opened = [open_page(f"{origin}{_page(inside, at, n, vector, place)}") for n, place in enumerate(places)]  # fmt: skip
                await asyncio.gather(*opened)
                heard = [line for sink in sinks for line in sink.take()]
                if heard:
                    got_out.append(vector.name)
            await asyncio.sleep(LATE_SEC)
            late = sum(len(sink.take()) for sink in sinks)
    finally:
        inside.close()
        for sink in sinks:
            sink.close()
    progress(f"egress: {wall}", len(vectors), len(vectors))
    return WallReport(
        wall=wall, tried=len(vectors), places=places, got_out=tuple(got_out),
        stayed=tuple(v.name for v in vectors if v.name not in got_out), inside_served=len(inside.served), late=late,
    )  # fmt: skip


def _page(inside: Inside, at: int, n: int, vector: Vector, place: str) -> str:
    """Have the page served; its path."""
    path = f"/{at}-{n}"
    inside.pages[path] = (
        f"<!doctype html><meta charset='utf-8'><body>{vector.markup.replace('PLACE', place)}"
    )
    return path


OpenPage = Callable[[str], Awaitable[None]]


@asynccontextmanager
async def _browser(
    wall: str, config: BrowserConfig, home: SiteHome, inside: Inside, progress: Progress
) -> AsyncIterator[tuple[OpenPage, str]]:
    """A Chromium behind the wall, and the origin of the allowed host."""
    local = f"127.0.0.1:{inside.port}"
    if wall == "none":
        async with _bare(config) as open_page:
            yield open_page, f"http://{HOST}:{inside.port}"
        return
    async with AsyncExitStack() as stack:
        if wall == "proxy":
            rules = Rules(private=(local,), read_only=False)
            outlet = await stack.enter_async_context(open_outlet(rules, home, progress))
            pool, origin = BrowserPool(config, way=outlet.way), f"http://{local}"
        else:
            pool, origin = BrowserPool(config, hosts={HOST: local}), f"http://{HOST}"
        stack.push_async_callback(pool.close)

        async def open_page(url: str) -> None:
            live = await pool.page()
            try:
                await _visit(live.page, url)
            finally:
                pool.discard(live.page.context)

        await pool.start()
        yield open_page, origin


@asynccontextmanager
async def _bare(config: BrowserConfig) -> AsyncIterator[OpenPage]:
    """Chromium as Playwright starts it: the positive control."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(config.executable) or None
        )

        async def open_page(url: str) -> None:
            context = await browser.new_context()
            try:
                await _visit(await context.new_page(), url)
            finally:
                await context.close()

        yield open_page
        await browser.close()


async def _visit(page: Page, url: str) -> None:
    # a page that navigates while it loads, or loads forever, is no failure: its server counts it
    with suppress(PlaywrightError):
        await page.goto(url, wait_until="load", timeout=PAGE_SEC * 1000)
    await asyncio.sleep(WAIT_SEC)
