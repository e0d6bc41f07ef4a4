"""One Chromium and one page server for all browser tests; every test has contexts of its own."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from tests.browser.plain import PlainSite

from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment, miniwob_world
from dynaweb.browser.pages import PageServer

PAGES = Path(__file__).parent / "pages"


@pytest.fixture(scope="session")
def server():
    found = PageServer(PAGES)
    yield found
    found.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def pool() -> AsyncIterator[BrowserPool]:
    found = BrowserPool(BrowserConfig(deadline_sec=30.0))
    yield found
    await found.close()


@pytest_asyncio.fixture(loop_scope="session")
async def env(pool: BrowserPool, server: PageServer) -> AsyncIterator[BrowserEnvironment]:
    """Pages of our own; a task is a file's name."""
    found = BrowserEnvironment(pool, PlainSite(server.origin))
    yield found
    await found.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def make_miniwob() -> AsyncIterator[Callable[[], BrowserEnvironment]]:
    async with miniwob_world(BrowserConfig(deadline_sec=30.0)) as make:
        yield make
