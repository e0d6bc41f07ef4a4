"""What a set of tasks must say to be attempted in the browser. MiniWoB++ is the first."""

from dataclasses import dataclass
from typing import Protocol

from dynaweb.browser.page import LivePage


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How an attempt stands, by the site's own judgement."""

    done: bool
    success: bool
    raw_reward: float
    """The task's own graded reward."""


class Site(Protocol):
    """Tasks on pages."""

    @property
    def origins(self) -> tuple[str, ...]:
        """Addresses the agent may go to, without a trailing slash."""
        ...

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        """Open the task's first page and start the attempt.

        Raises:
            UserError: no such task or seed. BrowserError: the page is broken.
        """
        ...

    async def goal(self, live: LivePage, task: str) -> str:
        """What the user wants; asked once the page has settled.

        Raises:
            BrowserError: the page gives none.
        """
        ...

    async def standing(self, live: LivePage, task: str) -> Standing | None:
        """How the attempt stands; None when the agent has left the task's pages.

        Raises:
            BrowserError: the page is gone.
        """
        ...
