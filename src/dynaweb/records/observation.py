"""What the agent sees at one moment, real or imagined."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One open tab."""

    url: str
    title: str
    back: tuple[str, ...] = ()
    """Addresses `go_back` would visit, oldest first."""
    forward: tuple[str, ...] = ()
    """Addresses `go_forward` would visit, nearest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One observation of one page.

    Example:
        Observation(url="http://shop/cart", title="Cart", tree="[12] button 'Pay'")
    """

    url: str
    """Address as the browser reports it; an imagined page keeps the address it predicts."""
    title: str
    tree: str
    """Accessibility tree, one element a line, tabs for depth: `[bid] role 'name', key='value', flag`."""
    tabs: tuple[Tab, ...] = ()
    active_tab: int = 0
    scroll: tuple[int, int] = (0, 0)
    """Scroll offset of the page in CSS pixels, (x, y)."""
    focused: str | None = None
    """Bid of the element that has the keyboard; None when it is the page itself."""
    last_action_error: str = ""
    """Why the previous action failed, empty when it did not. The agent sees it."""
    attachments: Mapping[str, str] = field(default_factory=dict)
    """Kind (screenshot, html, boxes) -> sha256 of the file stored beside the record."""
