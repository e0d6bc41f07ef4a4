"""Elements that a goal speaks of, found by code: what a small model would have to look up (ours).

Tools for the open web rank a page's elements before a model sees them (Mind2Web's MindAct does with a
model of its own). Here the words decide: an element is listed when its name, or the caption of an unnamed
one, stands in the goal. The page itself stays whole; a large model may ignore the list.
"""

import re
from collections.abc import Iterator

from dynaweb.axtree.label import caption_of, label_element
from dynaweb.axtree.tree import Tree, quote
from dynaweb.prompts.pointers import FUNCTION_WORDS

MAX_NAMED = 12
"""At most so many elements, those that the goal names first."""

_STATES = ("checked", "selected", "pressed", "expanded", "disabled", "value")
_FRAMES = frozenset({"row", "rowgroup", "table", "grid", "list", "group"})
"""What holds elements together has no name of its own, and is not what a goal speaks of."""
_HEADS = frozenset({"cell", "gridcell", "rowheader", "term"})
"""What stands beside them is what they are about."""


def named_elements(tree: Tree, goal: str) -> list[str]:
    """One line an element, in the goal's order: `[12] checkbox 'Ada', checked='false'`.

    Several elements of one name are listed together, first those whose group the goal names, then those
    that it spells the same. A name inside
    a longer one that also stands there is not meant.
    """
    found = sorted(_apart(list(_matches(tree, goal.lower()))))
    return [_line(tree, at, goal) for _, _, at in _grouped(tree, found, goal)[:MAX_NAMED]]


_Match = tuple[int, int, int]
"""Where the name begins and ends in the goal, and the number of the node."""


def _matches(tree: Tree, goal: str) -> Iterator[_Match]:
    places: dict[str, tuple[int, int] | None] = {}
    for at, node in enumerate(tree):
        if at == 0 or node.bid is None or (not node.name and node.role in _FRAMES):
            continue
        name = (node.name or caption_of(tree, at)).strip().lower()
        if name not in places:
            places[name] = _place(name, goal)
        if (place := places[name]) is not None:
            yield *place, at


def _place(name: str, goal: str) -> tuple[int, int] | None:
    if not name or name in FUNCTION_WORDS:
        return None
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", goal)
    return found.span() if found else None


def _apart(found: list[_Match]) -> list[_Match]:
    """Without those whose place lies inside a longer one's."""
    spans = {(begin, end) for begin, end, _ in found}
    inner = {
        (b, e) for b, e in spans for b2, e2 in spans if b2 <= b and e <= e2 and e2 - b2 > e - b
    }
    return [m for m in found if m[:2] not in inner]


def _grouped(tree: Tree, found: list[_Match], goal: str) -> list[_Match]:
    """Namesakes in the order of the page, but for those whose group is named: they come first."""

    def key(match: _Match) -> tuple[int, bool, bool, int]:
        begin, _, at = match
        group = label_element(tree, tree[at].bid or "").partition(" in '")[2].rstrip("'")
        other_case = (tree[at].name or "") not in goal
        return begin, _place(group.lower(), goal.lower()) is None, other_case, at

    return sorted(found, key=key)


def _line(tree: Tree, at: int, goal: str) -> str:
    node = tree[at]
    label = label_element(tree, node.bid or "")
    states = "".join(
        f", {key}={quote(value)}" if isinstance(value, str) else f", {key}"
        for key, value in ((k, node.attr(k)) for k in _STATES)
        if value
    )
    beside = _beside(tree, at) if node.role in _HEADS else ""
    return f"[{node.bid}] {label}{states}" + (f" then {quote(beside)}" if beside else "")


def _beside(tree: Tree, at: int) -> str:
    """Name of the next element of the same row."""
    for node in tree[at + 1 :]:
        if node.depth < tree[at].depth:
            return ""
        if node.depth == tree[at].depth:
            return node.name or ""
    return ""
