"""Addresses as tasks: any page of the allowed origins is a place to begin, with nothing to win; links are gathered on the way."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.crawl.gate import keep_manners
from dynaweb.browser.crawl.manners import Manners, is_loopback, origin_of
from dynaweb.browser.crawl.proxied import ProxiedEnvironment
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.page import LivePage, first_line
from dynaweb.browser.site import Standing
from dynaweb.contracts import Environment
from dynaweb.errors import BrowserError

BLANK = "about:blank"
MOST_LINKS = 2000
"""Of one page; those beyond are counted (`Manners.refused`)."""
# the page's own world could lie; what it says is an address that the frontier checks
LINKS = f"""(() => {{
  const all = [...document.querySelectorAll('a[href], area[href]')];
  const some = all.slice(0, {MOST_LINKS});
  return [all.length, some.map(a => [String(a.href).slice(0, 2100), /\\bnofollow\\b/.test(String(a.rel))])];
}})()"""


class CrawlSite:
    """A `Site` whose tasks are addresses."""

    def __init__(self, manners: Manners) -> None:
        """Nothing is open yet."""
        self._manners = manners
        self._links: dict[str, bool] = {}

    def take_links(self) -> list[tuple[str, bool]]:
        """Addresses that pages linked to since the last call, each with whether all its links ask not to be followed."""
        found, self._links = list(self._links.items()), {}
        return found

    @property
    def origins(self) -> tuple[str, ...]:
        """Where the crawl may go."""
        return self._manners.origins

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        """Open the address.

        Raises:
            BrowserError: it cannot be opened, or the manners refuse it.
        """
        self._links = {}
        if reason := self._manners.refusal(task):
            raise BrowserError(f"cannot open {task!r}: refused ({reason})")
        if self._manners.header and not is_loopback(origin_of(task)):
            try:
                await live.page.context.set_extra_http_headers({"User-Agent": self._manners.header})
            except PlaywrightError as error:
                raise BrowserError(f"cannot say who we are: {first_line(error)}") from error
        await keep_manners(live, self._manners)
        await live.goto(task, must_exist=True)

    async def goal(self, live: LivePage, task: str) -> str:
        """Open-ended."""
        await self._gather(live)
        return f"Explore {origin_of(task)}."

    async def standing(self, live: LivePage, task: str, *, ends: bool) -> Standing | None:
        """Never decided; over when the page has left the allowed origins all the same."""
        await self._gather(live)
        url = live.page.url
        return Standing(done=url != BLANK and origin_of(url) not in self.origins, success=None)

    async def _gather(self, live: LivePage) -> None:
        try:
            found = await live.evaluate(LINKS)
        except BrowserError:
            return  # a page that is no document has no links
        if not isinstance(found, list) or len(found) != 2:
            return  # the page has its own idea of an array
        count, pairs = found
        if isinstance(count, int) and count > MOST_LINKS:
            self._manners.refused[f"links beyond the first {MOST_LINKS} of a page"] += (
                count - MOST_LINKS
            )
        for pair in pairs if isinstance(pairs, list) else ():
            if isinstance(pair, list) and len(pair) == 2:
                url, nofollow = str(pair[0]), bool(pair[1])
                self._links[url] = nofollow and self._links.get(url, True)


@asynccontextmanager
async def crawl_world(
    manners: Manners, config: BrowserConfig
) -> AsyncIterator[Callable[[], tuple[Environment, CrawlSite]]]:
    """One browser for as long as the block runs.

    Yields:
        A function that makes an environment and its site; call it once for each worker.

    Raises:
        MissingDependencyError: there is no browser.
    """
    parts = [urlsplit(o) for o in manners.origins]
    names = [p.hostname or "" for p in parts if p.netloc not in manners.hosts]
    reach = tuple(dict.fromkeys(names)) if manners.way is None else ()
    pool = BrowserPool(config, hosts=manners.hosts, reach=reach, way=manners.way)

    def make() -> tuple[Environment, CrawlSite]:
        site = CrawlSite(manners)
        env = BrowserEnvironment(pool, site)
        return env if manners.way is None else ProxiedEnvironment(env, manners.way), site

    try:
        await pool.start()
        yield make
    finally:
        await pool.close()
