"""What is known of a page's nodes: Chromium's accessibility nodes, how they are drawn, and the numbers they have."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What DevTools takes and gives."""
JsonObject: TypeAlias = dict[str, Json]


_FRAME = 1 << 32
"""Processes number their nodes by themselves, each from 1: nodes of another process carry its frame's number above this."""


def in_frame(frame: int, backend: int) -> int:
    """Id of a node of a frame of another site, by the frame's number and the id it has there."""
    return frame * _FRAME + backend


def split_frame(backend: int) -> tuple[int, int]:
    """Number of the frame of another site (0: the page itself) and the node's id there."""
    return divmod(backend, _FRAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class AxNode:
    """One node of Chromium's accessibility tree, the parts that are used."""

    node_id: str
    role: str
    name: str
    value: str
    ignored: bool
    backend: int | None
    """Backend DOM node id: names the DOM node for its life, outside the page."""
    properties: Mapping[str, str | bool | float]
    children: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """How a DOM node is drawn and what listens on it."""

    tag: str
    hint: str = ""
    """What the page's author called it: title, file, class or id; empty when nothing says."""
    reacts: bool = False
    """A mouse listener sits on it, or the cursor becomes a hand here and not around it."""
    tabbable: bool = False
    """The author gave it a place in the tab order."""
    value: str | None = None
    """What a field holds now; None when it is no field, or holds a secret."""
    hidden: bool = False
    """Takes no visible space: at most one pixel, clipped."""
    off: bool = False
    """Lies above or before the page's edge, where no scrolling leads."""


NOT_DRAWN = Drawn(tag="")


@dataclass(slots=True)
class BidMap:
    """Numbers for DOM nodes: in document order at first sight, kept for the node's life.

    Nodes in frames of other sites have numbers of their own, behind letters that name the frame (`b12`): those of
    the page do not depend on how soon such a frame has loaded.
    """

    _bid_of: dict[int, str] = field(default_factory=dict)
    _backend_of: dict[str, int] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)

    def bid(self, backend: int) -> str:
        """The node's number, a new one at first sight."""
        known = self._bid_of.get(backend)
        if known is None:
            frame, _ = split_frame(backend)
            count = self._counts[frame] = self._counts.get(frame, 0) + 1
            known = f"{_letters(frame)}{count}"
            self._bid_of[backend] = known
            self._backend_of[known] = backend
        return known

    def known(self, backend: int) -> str | None:
        """The node's number if it has one."""
        return self._bid_of.get(backend)

    def backend(self, bid: str) -> int | None:
        """The DOM node with this number."""
        return self._backend_of.get(bid)


def _letters(number: int) -> str:
    """0 is nothing, 1 is `a`, 26 `z`, 27 `aa`."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
