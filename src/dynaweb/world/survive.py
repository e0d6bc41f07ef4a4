"""What a change in words speaks of, and what applying it by a model may therefore not have touched (papers F20).

A line of the page is *spoken of* if the words name its bid (`[13]`, `element 13`), its role and name together (`button 'Go'`), its
name in quotes, its name (from 3 characters, and only where nothing stands below it), its kind in the plural ("the checkboxes"), or
its kind where it is the only one ("the textbox"), or two lines around it (`X and all that follows to Y`); if something around it is spoken of; or if it shows no name and everything in it is spoken of. Every other line must be there
afterwards with the same role, name and states. One that is not is put back: what the second call did to it is taken out of the
change. Words that announce another page, or that say that they leave changes out, speak of everything.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import QUOTED, Node, Tree, unquote
from dynaweb.axtree.words import Words
from dynaweb.records.action import Action
from dynaweb.records.delta import (
    Deleted,
    Delta,
    DeltaKind,
    Moved,
    New,
    Placed,
    Rewritten,
    Updated,
)

MIN_NAME_CHARS = 3
"""A shorter name is found in other words by chance."""

MAX_NAME_CHARS = 79
"""Names are looked for by their beginning, since `axtree.describe` cuts them there."""

_EVERYTHING = re.compile(
    r"\b(?:another|new|different|next|other) page (?:appear|open|load|is shown|is displayed|came|comes)|\bnavigat(?:es|ed|ing)? to\b|"
    r"\bredirect(?:s|ed)?\b|\bpage (?:is|was) replaced\b|\bwhole page\b|\bmore changes\b",
    re.IGNORECASE,
)
_BIDS = re.compile(
    r"\[([A-Za-z0-9]+)\]|\b(?:element|id|bid|number) '?([A-Za-z0-9]+)'?", re.IGNORECASE
)
_LABELLED = re.compile(rf"\[[A-Za-z0-9]+\] [A-Za-z][A-Za-z0-9_-]* (?:{QUOTED.pattern})")
"""An element by bid, role and name: that one is meant, and no namesake."""
_LABEL = rf"(?:\[([A-Za-z0-9]+)\] )?([A-Za-z][A-Za-z0-9_-]*|the line) ({QUOTED.pattern})"
_RANGE = re.compile(rf"{_LABEL} and all that follows to {_LABEL}")
"""A row of elements, as `axtree.describe` names it."""
_WORD = re.compile(r"[A-Za-z]+")
_QUOTES = (("'", "'"), ('"', '"'), ("“", "”"), ("‘", "’"), ("`", "`"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Surviving:
    """A change without what the words do not speak of."""

    delta: Delta
    lost: int
    """Lines that the words do not speak of and that were not to survive."""
    unspoken: int
    """Lines that the words do not speak of."""

    @property
    def share_lost(self) -> float:
        """Of the lines that the words do not speak of, in [0, 1]."""
        return self.lost / self.unspoken if self.unspoken else 0.0


def speaks_of_everything(words: str) -> bool:
    """Whether the words announce another page, or say that they are not complete."""
    return _EVERYTHING.search(words) is not None


def surviving(places: Places, action: Action, delta: Delta, words: str) -> Surviving:
    """The change that is left when every line that the words do not speak of survives.

    Args:
        places: the page before.
        action: what was done.
        delta: what applying the words changed, on this page.
        words: the change in words.
    """
    if delta.kind in (DeltaKind.NONE, DeltaKind.TERMINAL) or speaks_of_everything(words):
        return Surviving(delta=delta, lost=0, unspoken=0)
    spoken = spoken_of(places, words)
    unspoken = len(spoken) - sum(spoken)
    if delta.kind is not DeltaKind.LOCAL:
        # nothing says that another page opened, and nearly nothing of this one is left
        return Surviving(delta=delta, lost=unspoken, unspoken=unspoken)
    return _kept(places, delta, Words(places, action), spoken, unspoken)


def _kept(
    places: Places, delta: Delta, words: Words, spoken: Sequence[bool], unspoken: int
) -> Surviving:
    lost: set[int] = set()
    updated: list[Updated | Rewritten] = []
    for u in delta.updated:
        at = places.find(u.ref)
        if spoken[at]:
            updated.append(u)
        else:
            lost.add(at)
    deleted: list[Deleted] = []
    for d in delta.deleted:
        for at in _rows(places, d):
            inside = range(at, at + 1) if d.alone else range(at, places.ends[at])
            lost.update(i for i in inside if not spoken[i])
            deleted += _spoken_parts(places, inside, spoken, alone=d.alone)
    back = [places.tree[i] for i in sorted(lost)]
    placed = _without_twins(delta.placed, back, words)
    kept = replace(delta, updated=tuple(updated), deleted=tuple(deleted), placed=placed)
    return Surviving(delta=_nothing(kept), lost=len(lost), unspoken=unspoken)


def _spoken_parts(
    places: Places, inside: range, spoken: Sequence[bool], *, alone: bool
) -> list[Deleted]:
    """The parts of a deletion that the words speak of wholly."""
    parts: list[Deleted] = []
    at = inside.start
    while at < inside.stop:
        end = at + 1 if alone else places.ends[at]
        if all(spoken[at:end]):
            parts.append(Deleted(ref=places.ref(at), alone=alone))
            at = end
        else:
            at += 1
    return parts


def _without_twins(
    placed: tuple[Placed, ...], back: Sequence[Node], words: Words
) -> tuple[Placed, ...]:
    """Without new lines that say what a line that is put back says: the second call had only written it elsewhere."""
    waiting = Counter((n.role, n.name) for n in back)
    kept: list[Placed] = []
    for p in placed:
        items: list[New | Moved] = []
        for k, item in enumerate(p.items):
            nested = k + 1 < len(p.items) and p.items[k + 1].depth > item.depth
            if isinstance(item, New) and not nested and waiting[_says(item, words)] > 0:
                waiting[_says(item, words)] -= 1
            else:
                items.append(item)
        if items:
            kept.append(replace(p, items=tuple(items)))
    return tuple(kept)


def _says(new: New, words: Words) -> tuple[str, str | None]:
    content = new.content
    return content.role, None if content.name is None else words.unfold(content.name)


def _rows(places: Places, deleted: Deleted) -> list[int]:
    """The elements that a deletion takes away, those below them not counted."""
    at = places.find(deleted.ref)
    last = at if deleted.to is None else places.find(deleted.to)
    rows = [at]
    while rows[-1] < last:
        rows.append(rows[-1] + 1 if deleted.alone else places.ends[rows[-1]])
    return rows


def _nothing(delta: Delta) -> Delta:
    """The kind of a change that nothing is left of."""
    empty = Delta(kind=DeltaKind.LOCAL, error=delta.error)
    return replace(empty, kind=DeltaKind.NONE) if delta == empty else delta


def spoken_of(places: Places, words: str) -> list[bool]:
    """For each line of the page whether the words speak of it."""
    tree = places.tree
    said = _Said(words, tree)
    named = [said.names(node, holds=places.ends[i] > i + 1) for i, node in enumerate(tree)]
    for first, last in _ranges(places, words):
        named[first:last] = [True] * (last - first)
    for i, up in enumerate(places.parents):
        named[i] = named[i] or (up > 0 and named[up])
    for i in range(len(tree) - 1, 0, -1):
        below = range(i + 1, places.ends[i])
        if not named[i] and not tree[i].name and below:
            named[i] = all(named[k] for k in below)
    return named


def _ranges(places: Places, words: str) -> Iterator[tuple[int, int]]:
    """Rows of lines that the words name by their ends; from a line up to, and without, another."""
    for found in _RANGE.finditer(words):
        first = _labelled(places.tree, found.groups()[:3], 0)
        last = None if first is None else _labelled(places.tree, found.groups()[3:], first)
        if first is not None and last is not None:
            yield first, places.ends[last]


def _labelled(tree: Tree, label: tuple[str | None, ...], start: int) -> int | None:
    """The first line from `start` on with a bid, or without one with a role and name."""
    bid, role, name = label
    if bid is not None:
        return next((i for i in range(start, len(tree)) if tree[i].bid == bid), None)
    told = unquote(name or "''").removesuffix("…")
    for i in range(start, len(tree)):
        node = tree[i]
        if (node.role or "the line") == role and node.bid is None:
            shown = node.name or ""
            if shown == told or (len(told) >= MAX_NAME_CHARS - 1 and shown.startswith(told)):
                return i
    return None


class _Said:
    """A change in words, taken apart once for all lines of a page."""

    def __init__(self, words: str, tree: Tree) -> None:
        self._bids = {a or b for a, b in _BIDS.findall(words)}
        self._words = _LABELLED.sub("", words)
        self._low = self._words.lower()
        said = {w.lower() for w in _WORD.findall(self._words)}
        roles = Counter(n.role for n in tree if n.role)
        self._kinds = {
            role
            for role, count in roles.items()
            if {f"{role}s".lower(), f"{role}es".lower()} & said
            or (count == 1 and f"the {role} ".lower() in f"{self._low} ")
        }

    def names(self, node: Node, *, holds: bool) -> bool:
        """Whether the words name this line itself; where something stands below it its bare name is too little."""
        if node.bid is not None and node.bid in self._bids:
            return True
        name = node.name or ""
        if not node.role:
            return bool(name.strip()) and name[:MAX_NAME_CHARS] in self._words
        if node.role in self._kinds or self._labels(node, name):
            return True
        return len(name) >= MIN_NAME_CHARS and self._quotes(name[:MAX_NAME_CHARS], holds)

    def _labels(self, node: Node, name: str) -> bool:
        label = f"{node.role} {name[:MAX_NAME_CHARS]!r}"
        label = label[:-1] if len(name) > MAX_NAME_CHARS else label
        return (bool(name) or node.bid is None) and label in self._words

    def _quotes(self, name: str, holds: bool) -> bool:
        low = name.lower()
        if low not in self._low:
            return False
        if any(f"{a}{low}{b}" in self._low for a, b in _QUOTES):
            return True
        return not holds and re.search(rf"(?<!\w){re.escape(low)}(?!\w)", self._low) is not None
