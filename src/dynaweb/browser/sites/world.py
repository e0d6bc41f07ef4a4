"""The live world on a site: instances with a Chromium each, so that all of them have the same address."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.sites.build import BuiltSite
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.sites.instance import Instance, start_instance, stop_instance, sweep_dead
from dynaweb.browser.sites.open_site import OpenSite


@asynccontextmanager
async def running_site(
    built: BuiltSite, home: SiteHome, *, port: int = 0
) -> AsyncIterator[Instance]:
    """An instance for as long as the block runs. It ends with this process, however that ends.

    Args:
        built: the site.
        home: where it was built.
        port: 0 takes a free one.

    Raises:
        MissingDependencyError: the port is taken, or the site does not start.
    """
    name = f"{built.spec.name}-{os.getpid()}-{secrets.token_hex(3)}"
    starting = asyncio.create_task(asyncio.to_thread(start_instance, built, home, name, port=port))
    try:
        instance = await asyncio.shield(starting)
        yield instance
    finally:
        await asyncio.wait([starting])
        if starting.exception() is None:
            await asyncio.to_thread(stop_instance, home, name)
        await asyncio.to_thread(_forget, home, name)


def _forget(home: SiteHome, name: str) -> None:
    folder = home.instance(name)
    for left in (folder / "server.log", home.instances / f"{name}.lock"):
        left.unlink(missing_ok=True)
    if folder.is_dir():
        folder.rmdir()


@asynccontextmanager
async def site_world(
    built: BuiltSite, home: SiteHome, config: BrowserConfig, workers: int = 1
) -> AsyncIterator[Callable[[], BrowserEnvironment]]:
    """Instances and browsers for as long as the block runs: attempts side by side do not see each other.

    Args:
        built: the site.
        home: where it was built.
        config: settings of the browsers.
        workers: environments; each costs a server (about 100 MB) and a Chromium (about 250 MB).

    Yields:
        A function that makes an environment; it may be called `workers` times.

    Raises:
        MissingDependencyError: the site or the browser does not start.
    """
    await asyncio.to_thread(sweep_dead, home)
    async with AsyncExitStack() as stack:
        ready: list[BrowserEnvironment] = []
        for _ in range(workers):
            instance = await stack.enter_async_context(running_site(built, home))
            pool = BrowserPool(config, hosts={built.spec.host: instance.state.address})
            stack.push_async_callback(pool.close)
            await pool.start()
            ready.append(BrowserEnvironment(pool, OpenSite(instance)))
        yield iter(ready).__next__
