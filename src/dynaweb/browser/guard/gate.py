"""Hold back what nobody approved: at the action, and again at every request that may change something.

The second is what counts: whatever a page's scripts do between a person's yes and the click, the request
that leaves must be the one that was shown, with its method, address and fields.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakSet

from playwright.async_api import BrowserContext, Request, Route, WebSocketRoute
from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.devices import Refusal
from dynaweb.browser.egress.inside.decide import SAFE_METHODS
from dynaweb.browser.egress.proxy import Outlet
from dynaweb.browser.guard.approval import (
    Ask,
    Intent,
    Writes,
    covers,
    kind_of_url,
    plain,
    told,
)
from dynaweb.browser.guard.look import intent_of
from dynaweb.browser.nodes import BidMap
from dynaweb.browser.page import LivePage, first_line
from dynaweb.browser.sites.fence import NOTHING
from dynaweb.errors import BrowserError
from dynaweb.records.action import Action
from dynaweb.records.secrets import NO_SECRETS, Secrets
from dynaweb.records.trajectory import Fault

MOST_BODY = 2_000
"""Characters of a request's body that a person is shown."""


# A worker's requests are not always shown to us before they leave. A proxy would see them; where
# there is none, pages have no workers (shared ones are off everywhere, service workers blocked).
NO_WORKERS = "delete globalThis.Worker;"


@dataclass(slots=True)
class GuardCounts:
    """What a guard has done."""

    actions_refused: int = 0
    """Actions that were not done."""
    requests_blocked: int = 0
    """Requests that did not leave."""
    asked: int = 0
    """Questions to a person."""
    approved: int = 0
    """Those that were answered with yes."""
    changed_after: int = 0
    """Approved actions refused because the page made something else of them."""


class Guard:
    """Of one environment. Without one, everything is allowed: benchmarks and sites on this machine."""

    def __init__(
        self,
        writes: Writes,
        *,
        ask: Ask | None = None,
        outlet: Outlet | None = None,
        allowed: Iterable[str] = (),
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        """Guard nothing yet; `watch` does.

        Args:
            writes: the policy.
            ask: how a person is asked; needed for `ask`.
            outlet: the proxy, which must hear of what was approved.
            allowed: origins where everything is allowed.
            secrets: taken out of what a person is shown and of what is counted.
        """
        assert writes is not Writes.ASK or ask is not None, "nobody to ask"
        self.writes = writes
        self.counts = GuardCounts()
        self.blocked: Counter[str] = Counter()
        """Requests that did not leave: method and address, with how often."""
        self._ask_person = ask
        self._outlet = outlet
        self._secrets = secrets
        self._allowed = frozenset(allowed)
        self._approved: Intent | None = None
        self._acting: LivePage | None = None
        self._news: list[str] = []
        self._judged: WeakSet[Request] = WeakSet()

    async def watch(self, context: BrowserContext) -> None:
        """Look at every request of the context, and let no WebSocket through.

        Raises:
            BrowserError: the browser is gone.
        """
        if self.writes is Writes.ALLOW:
            return
        self._approved = self._acting = None
        try:
            await context.route("**/*", self._request)
            await context.route_web_socket("**/*", self._socket)
            if self._outlet is None:
                await context.add_init_script(NO_WORKERS)
        except PlaywrightError as error:
            raise BrowserError(f"cannot guard the browser: {first_line(error)}") from error

    async def watch_first(self, context: BrowserContext) -> None:
        """See requests before whoever began to look at them later than this guard.

        Raises:
            BrowserError: the browser is gone.
        """
        if self.writes is Writes.ALLOW:
            return
        try:
            # a second time, never taking the first away: nothing may pass in between
            await context.route("**/*", self._request)
        except PlaywrightError as error:
            raise BrowserError(f"cannot guard the browser: {first_line(error)}") from error

    async def before(self, live: LivePage, action: Action, bids: BidMap) -> Refusal | None:
        """Whether the action may be done; called right before it is.

        Raises:
            BrowserError: the page is gone.
        """
        self._approved, self._acting, self._news = None, live, []
        if self.writes is Writes.ALLOW:
            return None
        intent = await intent_of(live, action, bids)
        if intent is None or intent.origin in self._allowed:
            return None
        if self.writes is Writes.NEVER:
            return self._refuse(f"not allowed on this site: it would {intent.kind}")
        if not await self._ask(told(intent)):
            return self._refuse(f"not approved: it would {intent.kind}")
        again = await intent_of(live, action, bids)
        if again is None or again.digest != intent.digest:
            self.counts.changed_after += 1
            return self._refuse("the page changed what this does after it was approved")
        self._approved = intent
        return None

    def after(self) -> str:
        """What was held back since `before`, for the agent to read; empty when nothing was."""
        news, self._news = self._news, []
        return "; ".join(dict.fromkeys(news))[:400]

    def _refuse(self, why: str) -> Refusal:
        self.counts.actions_refused += 1
        return Fault.IMPOSSIBLE, why

    async def _ask(self, text: str) -> bool:
        assert self._ask_person is not None
        self.counts.asked += 1
        agreed = await self._ask_person(self._secrets.scrub(text))
        self.counts.approved += agreed
        return agreed

    async def _request(self, route: Route) -> None:
        request = route.request
        try:
            if request in self._judged:  # it may leave, and comes by a second time
                await route.fallback()
                return
            self._judged.add(request)
            if _reads(request) or _origin(request.url) in self._allowed or await self._may_leave(request):  # fmt: skip
                await route.fallback()
            else:
                self._block(f"{request.method} {request.url}")
                if request.is_navigation_request():
                    await route.fulfill(
                        status=NOTHING
                    )  # an abort would show the browser's error page
                else:
                    await route.abort("blockedbyclient")
        except PlaywrightError:
            return  # the tab was closed under it: nothing is sent

    async def _may_leave(self, request: Request) -> bool:
        if self.writes is not Writes.ASK:
            return False
        body = request.post_data_buffer or b""
        kind = (await request.all_headers()).get("content-type", "")
        approved, self._approved = self._approved, None
        if approved is None or not covers(approved, request.method, request.url, kind, body):
            if approved is not None:
                self.counts.changed_after += 1
            if not self._is_asked_for(request) or not await self._ask(_request_told(request, kind, body)):  # fmt: skip
                return False
        if self._outlet is not None:
            many = kind.startswith("multipart/")
            digest = "" if many else hashlib.sha256(body).hexdigest()
            await asyncio.to_thread(self._outlet.permit, request.method, request.url, digest)
        return True

    def _is_asked_for(self, request: Request) -> bool:
        """Whether it comes of the present action: of its tab, to the page's own site. Others are not worth a question."""
        live = self._acting
        if live is None:
            return False
        try:
            ours = request.frame.page is live.page
        except PlaywrightError:
            return False
        return ours and _origin(request.url) == _origin(live.page.url)

    def _block(self, what: str) -> None:
        what = self._secrets.scrub(what)
        self.counts.requests_blocked += 1
        self.blocked[what[:300]] += 1
        self._news.append(f"blocked, since nobody allowed it: {what[:120]}")

    async def _socket(self, socket: WebSocketRoute) -> None:
        if _origin(socket.url.replace("ws", "http", 1)) in self._allowed:
            socket.connect_to_server()
            return
        self._block(f"WebSocket {socket.url}")
        await socket.close()


def _reads(request: Request) -> bool:
    return request.method in SAFE_METHODS and kind_of_url(request.url) is None


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])


def _request_told(request: Request, kind: str, body: bytes) -> str:
    lines = [
        f"a script of the page at {plain(_origin(request.frame.page.url))} wants to send",
        f"  request: {plain(request.method)} {plain(request.url)}",
    ]
    if body:
        lines.append(f"  {plain(kind)}, {len(body)} bytes: {plain(body.decode('utf-8', 'replace'), MOST_BODY)}")  # fmt: skip
    return "\n".join(lines)
