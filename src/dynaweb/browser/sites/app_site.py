"""Apps that serve and judge themselves, as a `Site`: the verdict comes when the agent says that it is done."""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.page import LivePage
from dynaweb.browser.site import Standing
from dynaweb.browser.sites.checkout import AppServer, AppTask, Checkout, ask_verifier, serving
from dynaweb.browser.sites.fence import keep_inside
from dynaweb.browser.sites.home import SiteHome
from dynaweb.errors import UserError

log = logging.getLogger(__name__)

PREFIX = "infinity:"


def read_app_task(name: str, checkout: Checkout) -> AppTask:
    """The task that `infinity:APP/TASK` means.

    Raises:
        UserError: there is none.
    """
    app, slash, task_id = name.removeprefix(PREFIX).partition("/")
    if not slash:
        raise UserError(f"task {name!r}: write it like {PREFIX}APP/TASK")
    return checkout.find(app, task_id)


class AppSite:
    """The tasks of one app. The seed chooses nothing: every attempt begins with the app's own seed data."""

    def __init__(self, checkout: Checkout, server: AppServer) -> None:
        """Tasks on a server that nobody else uses."""
        self._checkout = checkout
        self._server = server

    @property
    def origin(self) -> str:
        """Address of the app, the same in every run."""
        return f"http://{self._server.app}.localhost"

    @property
    def origins(self) -> tuple[str, ...]:
        """The one address."""
        return (self.origin,)

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        """Reset the app, open its page.

        Raises:
            UserError: no such task. BrowserError: the app does not answer.
        """
        if read_app_task(task, self._checkout).app != self._server.app:
            raise UserError(f"task {task!r} is not of the app {self._server.app!r}")
        await asyncio.to_thread(self._server.reset)
        await keep_inside(live, self.origin)
        await live.goto(f"{self.origin}/", must_exist=True)

    async def goal(self, live: LivePage, task: str) -> str:
        """The task's instruction."""
        return read_app_task(task, self._checkout).goal

    async def standing(self, live: LivePage, task: str, *, ends: bool) -> Standing | None:
        """The verifier's word at the end; None when the agent has left the app."""
        if not live.page.url.startswith((f"{self.origin}/", "about:blank")):
            return None
        if not ends:
            return Standing(done=False, success=False)
        wanted = read_app_task(task, self._checkout)
        passed, why = await asyncio.to_thread(ask_verifier, self._checkout, wanted, self._server)
        log.info("%s: %s: %s", task, "passed" if passed else "failed", why)
        return Standing(done=True, success=passed, raw_reward=float(passed))


@asynccontextmanager
async def app_world(
    checkout: Checkout, app: str, home: SiteHome, config: BrowserConfig, workers: int = 1
) -> AsyncIterator[Callable[[], BrowserEnvironment]]:
    """Servers of one app and browsers for as long as the block runs.

    Args:
        checkout: trusted.
        app: its name.
        home: its folder `logs` takes what the servers say.
        config: settings of the browsers.
        workers: environments; each has a server and a Chromium of its own.

    Yields:
        A function that makes an environment; it may be called `workers` times.

    Raises:
        UserError: no such app, or the checkout is not trusted.
        MissingDependencyError: the app or the browser does not start.
    """
    async with AsyncExitStack() as stack:
        ready: list[BrowserEnvironment] = []
        for _ in range(workers):
            name = f"{app}-{os.getpid()}-{secrets.token_hex(3)}.log"
            server = stack.enter_context(serving(checkout, app, home.root / "logs" / name))
            pool = BrowserPool(config, hosts={f"{app}.localhost": f"127.0.0.1:{server.port}"})
            stack.push_async_callback(pool.close)
            await pool.start()
            ready.append(BrowserEnvironment(pool, AppSite(checkout, server)))
        yield iter(ready).__next__
