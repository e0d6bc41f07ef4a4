"""A running instance as a `Site`: begin anywhere on it, with nothing to win and nothing to lose."""

import asyncio
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.page import LivePage, first_line
from dynaweb.browser.site import Standing
from dynaweb.browser.sites.fence import keep_inside
from dynaweb.browser.sites.instance import Instance
from dynaweb.browser.sites.login import log_in
from dynaweb.browser.sites.tasks import read_task
from dynaweb.errors import BrowserError, UserError

BLANK = "about:blank"


class OpenSite:
    """Places on one site. Every attempt begins with the seeded data; the seed chooses nothing, as there is nothing left to chance."""

    def __init__(self, instance: Instance) -> None:
        """Tasks on an instance that nobody else uses."""
        self._instance = instance

    @property
    def origins(self) -> tuple[str, ...]:
        """The one address of the site."""
        return (self._instance.spec.origin,)

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        """Reset the site, log in where the task says so, open the page.

        Raises:
            UserError: no such task, or one of another site. BrowserError: the site does not answer.
        """
        place = read_task(task)
        spec = self._instance.spec
        if place.spec is not spec:
            raise UserError(f"task {task!r} is not of the site {spec.name!r}")
        await asyncio.to_thread(self._instance.reset)
        if place.person is not None:
            state = self._instance.state
            session = await asyncio.to_thread(log_in, spec, state.port, place.person)
            try:
                await live.page.context.add_cookies(
                    [{"name": n, "value": v, "url": spec.origin} for n, v in session.items()]
                )
            except PlaywrightError as error:
                raise BrowserError(f"cannot log in for {task!r}: {first_line(error)}") from error
        await keep_inside(live, spec.origin)
        await live.goto(spec.origin + place.path, must_exist=True)

    async def goal(self, live: LivePage, task: str) -> str:
        """Open-ended."""
        place = read_task(task)
        who = f" You are logged in as {place.person.name}." if place.person is not None else ""
        return f"Explore this site: {place.spec.title}.{who}"

    async def standing(self, live: LivePage, task: str, *, ends: bool) -> Standing | None:
        """Never decided; over when the page has left the site all the same (links to elsewhere do nothing)."""
        url = live.page.url
        inside = url == BLANK or _origin(url) == self._instance.spec.origin
        return Standing(done=not inside, success=None)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
