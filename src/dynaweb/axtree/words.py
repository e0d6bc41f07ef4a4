"""Text with references: what the page or the action already says is pointed at (`records.delta`).

`unfold(fold(text)) == text` for every text, page and action.
"""

import re
from functools import cached_property

from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import AttrValue
from dynaweb.errors import DeltaError
from dynaweb.records.action import Action, Fill, SelectOption, target_bids
from dynaweb.records.delta import Value

MIN_PART_CHARS = 3
"""A shorter typed text or name is not looked for inside longer text: it would match by chance."""

MIN_NAMED_CHARS = 8
"""A shorter name is cheaper to write than to point at."""

WORDED_KEYS = frozenset({"value", "valuetext", "description", "placeholder"})
"""Attributes whose text may refer; others hold states such as `checked='true'`."""

REFERENCE = re.compile(r"\$(\$|t|n|\{[A-Za-z0-9+]{1,40}\})?")


def typed_text(action: Action) -> str | None:
    """What the action typed or chose; None when it did neither."""
    match action:
        case Fill(_, value):
            return value
        case SelectOption(_, options) if len(options) == 1:
            return options[0]
        case _:
            return None


class Words:
    """Folding and unfolding for one page and one action."""

    def __init__(self, places: Places, action: Action) -> None:
        self._places = places
        self._typed = typed_text(action)
        bids = target_bids(action)
        self._target = (
            next((n.name for n in places.tree if n.bid == bids[0]), None) if bids else None
        )
        marked = (("$t", self._typed), ("$n", self._target))
        self._marks = [(m, k) for m, k in marked if k is not None and len(k) >= MIN_PART_CHARS]

    @cached_property
    def _named(self) -> dict[str, int]:
        """The first line that has each name worth pointing at."""
        named: dict[str, int] = {}
        for i, node in enumerate(self._places.tree):
            name = node.name
            if name is not None and len(name) >= MIN_NAMED_CHARS and node.role:
                named.setdefault(name, i)
        return named

    def fold(self, text: str) -> str:
        """The shortest way to say it."""
        if text and text == self._typed:
            return "$t"
        if text and text == self._target:
            return "$n"
        if len(text) >= MIN_NAMED_CHARS and (at := self._named.get(text)) is not None:
            return f"${{{self._places.ref(at)}}}"
        parts = [text]
        for mark, known in self._marks:
            if known in text:
                parts = _cut(parts, known, mark)
        return "".join(p if i % 2 else p.replace("$", "$$") for i, p in enumerate(parts))

    def unfold(self, words: str) -> str:
        """The text itself.

        Raises:
            DeltaError: a reference to something that is not there.
        """
        return REFERENCE.sub(self._resolve, words) if "$" in words else words

    def _resolve(self, found: re.Match[str]) -> str:
        mark = found.group(1)
        known: str | None = None
        if mark == "$":
            known = "$"
        elif mark == "t":
            known = self._typed
        elif mark == "n":
            known = self._target
        elif mark is not None:
            known = self._name(mark[1:-1])
        if known is None:
            raise DeltaError(
                f"reference {found.group()[:40]!r} points at no text of this page or action"
            )
        return known

    def _name(self, ref: str) -> str | None:
        try:
            node = self._places.tree[self._places.find(ref)]
        except DeltaError:
            return None
        return node.name if node.role else None

    def fold_value(self, key: str, value: AttrValue) -> Value:
        """An attribute's value, folded where its key holds text."""
        if not isinstance(value, str):
            return value
        return self.fold(value) if key in WORDED_KEYS else value.replace("$", "$$")

    def unfold_value(self, value: Value) -> AttrValue:
        """An attribute's value itself.

        Raises:
            DeltaError: a reference to something that is not there.
        """
        return self.unfold(value) if isinstance(value, str) else value


def _cut(parts: list[str], known: str, mark: str) -> list[str]:
    """Split the plain parts (even places) at every occurrence of `known`."""
    cut: list[str] = []
    for i, part in enumerate(parts):
        if i % 2:
            cut.append(part)
            continue
        for k, piece in enumerate(part.split(known)):
            cut += [mark, piece] if k else [piece]
    return cut
