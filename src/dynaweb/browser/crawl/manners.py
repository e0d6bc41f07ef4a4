"""Which requests of a page are made, and how soon after one another a site is asked."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from dynaweb.browser.crawl.robots import Robots
from dynaweb.browser.egress.way import WayOut

READING = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing (RFC 9110, section 9.2.1)."""


def origin_of(url: str) -> str:
    """`scheme://host:port` of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def is_loopback(origin: str) -> bool:
    """Whether an origin is on this machine by its very name: `localhost`, `*.localhost`, 127.0.0.0/8, `[::1]`."""
    host = (urlsplit(origin).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """What a crawl may ask of whom."""

    origins: tuple[str, ...]
    """Where it may go, without trailing slashes."""
    robots: Robots
    writable: tuple[str, ...] = ()
    """Origins where it may send what changes something: forms by POST. Elsewhere it only reads."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Name -> `address:port` on this machine, as in `BrowserPool`."""
    header: str = ""
    """Our `User-Agent` at sites that are not on this machine; empty keeps the browser's."""
    way: WayOut | None = None
    """Through the proxy, for everything that `hosts` does not name; None where all origins are on this machine."""
    refused: Counter[str] = field(default_factory=Counter)
    """Requests that were not made, by reason: `elsewhere`, `robots`, `read-only`."""
    refused_at: Counter[str] = field(default_factory=Counter)
    """The same requests by `host:port` as it was written."""
    refused_by_proxy: Counter[str] = field(default_factory=Counter)
    """What proxies of workers on other machines refused, as `Outlet.refusals` has it."""

    def refusal(self, url: str, method: str = "GET") -> str:
        """Why a request is not made; empty when it is. Addresses inside the page (`data:`, `blob:`) are no requests."""
        if not url.startswith(("http:", "https:", "ws:", "wss:", "ftp:")):
            return ""
        if url.startswith("ws"):  # a socket is opened by a request to the address of the same name
            url = url.replace("ws", "http", 1)
        origin = origin_of(url)
        if origin not in self.origins:
            return "elsewhere"
        if not self.robots.allows(url):
            return "robots"
        return "" if method in READING or origin in self.writable else "read-only"

    def refuses(self, url: str, method: str = "GET") -> bool:
        """`refusal`, counted."""
        reason = self.refusal(url, method)
        if reason:
            self.refused[reason] += 1
            self.refused_at[urlsplit(url).netloc.rpartition("@")[2].lower()] += 1
        return bool(reason)


class Turns:
    """One request at a time to a site, and a pause between two: its own `Crawl-delay`, or ours if that is longer."""

    def __init__(self, pauses: Mapping[str, float]) -> None:
        """Nobody has asked yet.

        Args:
            pauses: origin -> seconds between two actions there, whoever does them.
        """
        self._pauses = {origin: pause for origin, pause in pauses.items() if pause > 0.0}
        self._locks = {origin: asyncio.Lock() for origin in self._pauses}
        self._last: dict[str, float] = {}

    async def wait(self, origin: str) -> None:
        """Until it is our turn; those who wait are served in order."""
        pause = self._pauses.get(origin)
        if pause is None:
            return
        async with self._locks[origin]:
            last = self._last.get(origin)
            if last is not None:
                await asyncio.sleep(last + pause - time.monotonic())
            # not when it was due: a loop that was held up must not let two through at once
            self._last[origin] = time.monotonic()
