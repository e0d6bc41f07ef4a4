"""A change of one page, said of another: what happened there, if it happened here (ours).

Elements of the two pages are paired as those of two moments of one page are (`match.py`); every address
of the change then points at the paired element. A change that speaks of an element that has no pair does
not fit, and says so: nothing is left out of it.
"""

import re
from dataclasses import replace

from dynaweb.axtree.apply import LITERAL
from dynaweb.axtree.match import Match
from dynaweb.axtree.place import Places
from dynaweb.axtree.words import REFERENCE
from dynaweb.errors import DeltaError
from dynaweb.records.delta import (
    START,
    Content,
    Deleted,
    Delta,
    Moved,
    New,
    Placed,
    Rewritten,
    Shifted,
    Updated,
    Value,
)


def carry(delta: Delta, there: Places, here: Places, pairs: Match) -> Delta:
    """The change with addresses of another page.

    Tabs are left to follow from the rest, and renumbering is not carried: both belong to the page that was.

    Args:
        delta: a change of the page `there`, as `diff` makes it.
        there: the page that it was made on.
        here: the page that it is to be said of.
        pairs: for each line of `there` the line of `here` that is the same element.

    Raises:
        DeltaError: the change speaks of an element that is not here.
    """
    carrier = _Carrier(there, here, pairs)
    return replace(
        delta,
        updated=tuple([carrier.updated(u) for u in delta.updated]),
        deleted=tuple([carrier.deleted(d) for d in delta.deleted]),
        placed=tuple([carrier.placed(p) for p in delta.placed]),
        shifted=tuple([Shifted(ref=carrier.ref(s.ref), by=s.by) for s in delta.shifted]),
        focus=carrier.focus(delta.focus),
        tabs=None,
        active_tab=None,
        renumbered=(),
    )


class _Carrier:
    """Addresses of one page as those of another."""

    def __init__(self, there: Places, here: Places, pairs: Match) -> None:
        self._there, self._here, self._pairs = there, here, pairs

    def ref(self, ref: str) -> str:
        if ref == START:
            return START
        return self._here.ref(self._pair(ref))

    def updated(self, u: Updated | Rewritten) -> Updated | Rewritten:
        if isinstance(u, Rewritten):
            return Rewritten(ref=self.ref(u.ref), content=self._content(u.content))
        return Updated(
            ref=self.ref(u.ref), name=self._words(u.name), set=self._attrs(u.set), unset=u.unset
        )

    def deleted(self, d: Deleted) -> Deleted:
        return Deleted(
            ref=self.ref(d.ref), alone=d.alone, to=None if d.to is None else self.ref(d.to)
        )

    def placed(self, p: Placed) -> Placed:
        return Placed(
            after=self.ref(p.after), items=tuple([self._item(i, p.after) for i in p.items])
        )

    def focus(self, focus: str | None) -> str | None:
        if not focus or focus.startswith("+"):
            return focus
        return None if focus.startswith(LITERAL) else self.ref(focus)

    def _pair(self, ref: str) -> int:
        at = self._pairs[self._there.find(ref)]
        if at is None:
            raise DeltaError(f"the element at {ref!r} is not on this page")
        return at

    def _item(self, item: New | Moved, after: str) -> New | Moved:
        """Depth counts from the line that it follows, which may lie elsewhere here."""
        deeper = 0
        if after != START:
            old, new = self._there.find(after), self._pair(after)
            deeper = self._here.tree[new].depth - self._there.tree[old].depth
        depth = max(item.depth + deeper, 0)
        if isinstance(item, Moved):
            return Moved(depth=depth, ref=self.ref(item.ref))
        return replace(item, depth=depth, content=self._content(item.content))

    def _content(self, content: Content) -> Content:
        return Content(
            role=content.role, name=self._words(content.name), attrs=self._attrs(content.attrs)
        )

    def _attrs(self, attrs: tuple[tuple[str, Value], ...]) -> tuple[tuple[str, Value], ...]:
        return tuple([(k, self._words(v) if isinstance(v, str) else v) for k, v in attrs])

    def _words(self, words: str | None) -> str | None:
        return words if words is None or "$" not in words else REFERENCE.sub(self._pointed, words)

    def _pointed(self, found: re.Match[str]) -> str:
        mark = found.group(1)
        return f"${{{self.ref(mark[1:-1])}}}" if mark and mark[0] == "{" else found.group()
