"""Who is asked before an action is done on a page: nobody, or a guard that belongs to the page's context."""

from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from playwright.async_api import BrowserContext

from dynaweb.browser.nodes import BidMap
from dynaweb.records.action import Action
from dynaweb.records.trajectory import Fault

if TYPE_CHECKING:
    from dynaweb.browser.page import LivePage


class Safety(Protocol):
    """Says whether an action may be done on a page."""

    async def prepare(
        self, live: "LivePage", action: Action, bids: BidMap
    ) -> Action | tuple[Fault, str]:
        """The action to do instead (with values in the place of names), or why it is not done.

        Raises:
            BrowserError: the page is gone.
        """
        ...


_safeties: WeakKeyDictionary[BrowserContext, Safety] = WeakKeyDictionary()


def keep_safe(context: BrowserContext, safety: Safety) -> None:
    """From now on, ask before every action in all tabs of the context."""
    _safeties[context] = safety


async def prepare(live: "LivePage", action: Action, bids: BidMap) -> Action | tuple[Fault, str]:
    """The action to do, or why it is not done; the same action where nobody is to be asked.

    Raises:
        BrowserError: the page is gone.
    """
    safety = _safeties.get(live.page.context)
    return action if safety is None else await safety.prepare(live, action, bids)
