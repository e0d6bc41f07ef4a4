"""A state change: what an action did to a page, and nothing the page or the action already says.

Addresses (`ref`) point into the page *before* the change: `13` is the element with bid 13, `13+2`
the second line without a bid of its own after it, `root` the first line, `root+1` the line after
it, `^` the place before everything.

Words (`words`) are text with references in it: `$t` is what the action typed or chose, `$n` the
name of the element acted on, `${13}` the name of the element at address 13, `$$` a dollar sign. So
text that stands on the page or in the action is pointed at, never copied (ours; a feasibility run
showed that a small model miscopies names it has never seen).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from dynaweb.records.observation import Tab

Value: TypeAlias = str | bool | int | float | None
"""Of an attribute: words, a bare number or boolean, or None for a flag such as `disabled`."""

START = "^"
"""The place before the first line."""

ROOT = "root"
"""The first line, when it has no bid."""


class DeltaKind(StrEnum):
    """How much of the page an action changed (DynaWeb 3.2; WebWorld F19 keeps them apart)."""

    NONE = "none"
    """Nothing that an observation shows."""
    LOCAL = "local"
    """Parts of the page."""
    FULL_PAGE = "full_page"
    """Another page: the change is the whole new tree."""
    NEW_TAB = "new_tab"
    """Another page in a tab that was not there before."""
    TERMINAL = "terminal"
    """The episode ended; what is left on screen is not part of the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What one line says. A line that no dialect explains has the role "" and is all name."""

    role: str
    name: str | None
    """Words; None when the line shows no name at all."""
    attrs: tuple[tuple[str, Value], ...] = ()
    """In the order shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """An element that stayed and says something else."""

    ref: str
    name: str | None = None
    """New name (words); None when it kept its name."""
    set: tuple[tuple[str, Value], ...] = ()
    """Attributes given or changed."""
    unset: tuple[str, ...] = ()
    """Attributes taken away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """An element that stayed and whose line is new as a whole (role, or order of attributes)."""

    ref: str
    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """An element that is gone, or a row of them."""

    ref: str
    alone: bool = False
    """Only this line; by default everything below it goes too."""
    to: str | None = None
    """The last of several that stood one after another and are all gone, with everything below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """An element that was not there."""

    depth: int
    content: Content
    has_bid: bool
    """It can be acted on. Which bid it gets is not for the change to say: the next free number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """An element that stands somewhere else now, with everything below it."""

    depth: int
    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """New and moved lines, in order, that follow one old line."""

    after: str
    items: tuple[New | Moved, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifted:
    """An element that lies deeper (by > 0) or less deep, with everything below it."""

    ref: str
    by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Renumbered:
    """A bid of the next page that differs from what `apply` would give. Models never write these."""

    ref: str
    """Address in the page that the change gives without renumbering."""
    bid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What one action changed.

    A field that is None says "as the rest of the change implies": the address and the title stay,
    or follow the new page's root; the focus stays where it was if the element did; tabs follow
    address and title.

    Example:
        Delta(kind=DeltaKind.LOCAL, updated=(Updated(ref="14", set=(("checked", "true"),)),))
    """

    kind: DeltaKind
    updated: tuple[Updated | Rewritten, ...] = ()
    deleted: tuple[Deleted, ...] = ()
    placed: tuple[Placed, ...] = ()
    """New and moved elements; for a whole new page one entry after `^`."""
    shifted: tuple[Shifted, ...] = ()
    url: str | None = None
    title: str | None = None
    """Words are not used here: address and title are literal."""
    focus: str | None = None
    """Address of the element that has the keyboard now, `+2` for the second new element that has
    a bid, "" for the page itself."""
    scroll: tuple[int, int] | None = None
    tabs: tuple[Tab, ...] | None = None
    active_tab: int | None = None
    error: str = ""
    """Why the action failed, as the next page shows it. Absolute: an old error never lingers."""
    renumbered: tuple[Renumbered, ...] = ()
