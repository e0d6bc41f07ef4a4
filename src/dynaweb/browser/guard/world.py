"""The live world on sites that are not ours: through the proxy, read-only unless said otherwise, with secrets by name."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.crawl.manners import is_loopback, origin_of
from dynaweb.browser.egress.inside.decide import Rules
from dynaweb.browser.egress.proxy import Outlet, open_outlet
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.guard.approval import Ask, Writes
from dynaweb.browser.guard.environment import SafeEnvironment, SafeSite
from dynaweb.browser.guard.gate import Guard
from dynaweb.browser.page import LivePage
from dynaweb.browser.site import Standing
from dynaweb.browser.sites.fence import keep_inside
from dynaweb.browser.sites.home import SiteHome
from dynaweb.errors import UserError
from dynaweb.records.secrets import NO_SECRETS, Secrets
from dynaweb.runs.progress import Progress, silent

THINKING_SEC = 900.0
"""Deadline of a step that a person may be asked in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveConfig:
    """Where episodes may go and what they may change."""

    origins: tuple[str, ...]
    """Without trailing slashes; the first is where tasks without an address of their own begin."""
    writes: Writes | None = None
    """None: `allow` where all origins are on this machine, `never` elsewhere."""
    also: tuple[str, ...] = ()
    """Further hosts that pages may load things from: `cdn.example`, `*.example.org`."""
    private: tuple[str, ...] = ()
    """`host:port` that may lie in a private network."""

    @property
    def local(self) -> bool:
        """Everything is on this machine: no proxy is needed."""
        return all(map(is_loopback, self.origins)) and not self.also and not self.private

    @property
    def policy(self) -> Writes:
        """What holds."""
        return self.writes or (Writes.ALLOW if self.local else Writes.NEVER)

    def rules(self) -> Rules:
        """For the proxy."""
        hosts = tuple(urlsplit(origin).netloc for origin in self.origins)
        return Rules(hosts=(*hosts, *self.also), private=self.private, read_only=self.policy is not Writes.ALLOW)  # fmt: skip


class LiveSite:
    """Addresses as tasks, with nothing to win."""

    def __init__(self, origins: tuple[str, ...]) -> None:
        """Tasks at these origins."""
        self.origins = origins

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        """Open the address.

        Raises:
            UserError: it is of no allowed origin. BrowserError: it cannot be opened.
        """
        if origin_of(task) not in self.origins:
            raise UserError(f"{task[:80]!r} is at none of {', '.join(self.origins)}: allow its origin")  # fmt: skip
        if len(self.origins) == 1 and is_loopback(self.origins[0]):
            await keep_inside(live, self.origins[0])
        await live.goto(task, must_exist=True)

    async def goal(self, live: LivePage, task: str) -> str:
        """Open-ended."""
        return f"Look at {task}."

    async def standing(self, live: LivePage, task: str, *, ends: bool) -> Standing | None:
        """Never decided; over when the page has left the allowed origins."""
        url = live.page.url
        return Standing(done=url != "about:blank" and origin_of(url) not in self.origins, success=None)  # fmt: skip


@asynccontextmanager
async def live_world(
    live: LiveConfig,
    config: BrowserConfig,
    home: SiteHome,
    *,
    ask: Ask | None = None,
    secrets: Secrets = NO_SECRETS,
    progress: Progress = silent,
) -> AsyncIterator[Callable[[], SafeEnvironment]]:
    """Browser and proxy for as long as the block runs.

    Args:
        live: where, and what may be changed.
        config: settings of the browser.
        home: where the proxy is installed.
        ask: how a person is asked; needed for the policy `ask`.
        secrets: what may be typed.
        progress: stage `install egress-proxy`.

    Yields:
        A function that makes an environment, each with a guard of its own.

    Raises:
        UserError: `ask` without anybody to ask, or a host that is none.
        MissingDependencyError: browser or proxy are missing.
    """
    if live.policy is Writes.ASK:
        if ask is None:
            raise UserError("writes 'ask' needs somebody to ask: use a terminal, or 'never'")
        config = replace(config, deadline_sec=THINKING_SEC)
    async with AsyncExitStack() as stack:
        outlet: Outlet | None = None
        if not live.local:
            outlet = await stack.enter_async_context(open_outlet(live.rules(), home, progress))
        pool = BrowserPool(config, way=outlet.way if outlet is not None else None)
        stack.push_async_callback(pool.close)
        await pool.start()

        def make() -> SafeEnvironment:
            guard = Guard(live.policy, ask=ask, outlet=outlet, secrets=secrets)
            site = SafeSite(LiveSite(live.origins), guard, secrets)
            return SafeEnvironment(BrowserEnvironment(pool, site), guard, secrets)

        yield make
