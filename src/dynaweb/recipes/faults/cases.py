"""The faults: what each is, how it is injected, and what may come of it."""

import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.family import send
from dynaweb.browser.page import LivePage
from dynaweb.errors import BrowserError

Expected: TypeAlias = Literal["error", "page", "either"]
Inject: TypeAlias = Callable[[BrowserPool, LivePage], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCase:
    """One fault."""

    name: str
    what: str
    expected: Expected
    """A `BrowserError`, an observation that is whole, or one of the two by chance."""
    page: str = ""
    """Page whose button is pressed; the fault's own name when empty."""
    at_reset: bool = False
    """The episode's first page is the fault; no button is pressed."""
    inject: Inject | None = None
    """Done while the step runs; None where the page does it by itself."""
    shown: str = ""
    """Text that a whole observation holds."""
    number: bool = False
    """Address, title and text of a whole observation name the same number: they come from one document."""


async def _crash(pool: BrowserPool, live: LivePage) -> None:
    try:
        await live.send("Page.crash")
    except BrowserError:
        return  # the crash is the answer


def _to_renderers(number: int) -> Inject:
    async def inject(pool: BrowserPool, live: LivePage) -> None:
        assert pool.running is not None
        send((p for p in pool.running.members() if "--type=renderer" in p.cmdline()), number)

    return inject


def _to_browser(number: int) -> Inject:
    async def inject(pool: BrowserPool, live: LivePage) -> None:
        assert pool.running is not None
        send(pool.running.leaders(), number)

    return inject


def _to_driver(number: int) -> Inject:
    async def inject(pool: BrowserPool, live: LivePage) -> None:
        assert pool.running is not None
        send([pool.running.driver()], number)

    return inject


def _page(name: str, what: str, expected: Expected = "error", shown: str = "") -> FaultCase:
    return FaultCase(name=name, what=what, expected=expected, shown=shown)


def _first(name: str, what: str, page: str) -> FaultCase:
    return FaultCase(
        name=name, what=f"first page: {what}", expected="error", page=page, at_reset=True
    )


def _outside(name: str, what: str, inject: Inject) -> FaultCase:
    return FaultCase(name=name, what=what, expected="error", page="waiting", inject=inject)


CASES: tuple[FaultCase, ...] = (
    _page("spin", "a script that never ends"),
    _page("promises", "promises without end"),
    _page("alerts", "alert() without end"),
    _page("questions", "20 times alert, confirm and prompt", "page", "answered 0"),
    _page("leaving", "beforeunload that objects", "page"),
    _page("departures", "beforeunload that objects, to 50 ways out", "either"),
    _page("download", "a download without end", "page", "ready"),
    _page("popups", "20 windows at once"),
    _page("popup", "a window", "page", "ready"),
    _page("close", "window.close() of the only tab, which Chromium refuses", "page", "ready"),
    _page("redirects", "redirects in a circle"),
    _page("dropped", "the server resets the connection"),
    _page("refused", "nobody listens"),
    _page("unanswered", "the server never answers"),
    _page("trickle", "an answer without end"),
    _page("half", "a page whose image never comes"),
    _page("huge", "a page of 200,000 nodes"),
    _page("grown", "200,000 buttons made by a script"),
    _page("long", "a text of 20 MB"),
    _page("writing", "document" + ".write without end"),
    _page("written", "document" + ".write without close", "page", "never closed"),
    _page("pushes", "history.pushState without end"),
    _page("pushed", "history.pushState 2,000 times", "page", "pushed"),
    FaultCase(
        name="restless",
        what="a page that goes elsewhere while it is read",
        expected="either",
        number=True,
    ),
    _first("reset-unanswered", "never answered", "hang"),
    _first("reset-redirects", "redirects in a circle", "loop"),
    _first("reset-dropped", "connection reset", "drop"),
    _first("reset-huge", "200,000 nodes", "big"),
    _outside("crash", "DevTools' Page.crash", _crash),
    _outside("renderer-killed", "SIGKILL to every renderer", _to_renderers(signal.SIGKILL)),
    _outside("browser-killed", "SIGKILL to the browser", _to_browser(signal.SIGKILL)),
    _outside("browser-stopped", "SIGSTOP to the browser", _to_browser(signal.SIGSTOP)),
    _outside("driver-killed", "SIGKILL to the driver", _to_driver(signal.SIGKILL)),
    _outside("driver-stopped", "SIGSTOP to the driver", _to_driver(signal.SIGSTOP)),
)
