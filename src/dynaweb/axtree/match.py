"""Which lines of two pages are the same element: by identity first, then by role, name and place.

A bid is identity while it is stable. Where a page was renumbered (most elements of one bid differ
in role or name) bids say nothing, and elements are assigned by what they are and where they stand,
so that renumbered pages don't read as all new (papers F5; WMA's transition-focused abstraction).
Everything else is assigned top-down, below elements that are the same: whether a page changed an
element or made it again is not to be seen on it, so a change should not depend on it.
"""

from collections.abc import Callable, Hashable

from dynaweb.axtree.align import align, increasing
from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import Node, Tree

STABLE_SHARE = 0.5
"""Bids are identity when at least this share of the bids that both pages show have the same role
and name in both (ours)."""

REMADE_SHARE = 0.5
"""An element that was made again is the same only if this share of what lies below it still says the
same (ours)."""

REMADE_LINES = 3
"""With fewer lines below it an element that was made again is always the same (ours)."""

Match = list[int | None]
"""For each old line the new line that is the same element."""


def match(old: Places, new: Places) -> Match:
    """Pair the lines of two pages, one to one; both lines of a pair have a bid, or neither has."""
    return _Matcher(old, new).run()


class _Matcher:
    def __init__(self, old: Places, new: Places) -> None:
        self._old, self._new = old.tree, new.tree
        self._old_parents, self._new_parents = old.parents, new.parents
        self._old_once, self._new_once = old.once, new.once
        self._to: Match = [None] * len(old.tree)
        self._taken = [False] * len(new.tree)

    def run(self) -> Match:
        shared, stable = self._match_bids()
        self._pair_below()
        for i, j in shared if stable else []:
            if self._to[i] is None and not self._taken[j]:
                self._pair(i, j)
        self._give_up_remade()
        return self._to

    def _pair(self, i: int, j: int) -> None:
        self._to[i] = j
        self._taken[j] = True

    def _match_bids(self) -> tuple[list[tuple[int, int]], bool]:
        """Pair elements of one bid and role; the bids both pages show, and whether they are stable."""
        left, right = self._old_once, self._new_once
        shared = [(left[b], right[b]) for b in left if b in right]
        same = sum(1 for i, j in shared if is_same(self._old[i], self._new[j]))
        if same < STABLE_SHARE * len(shared):
            return shared, False
        for i, j in shared:
            if self._old[i].role == self._new[j].role:
                self._pair(i, j)
        return shared, True

    def _pair_below(self) -> None:
        """Pair what lies directly below paired elements: equal lines, equal elements, equal roles."""
        below_old, below_new = _below(self._old_parents), _below(self._new_parents)
        self._align(below_old[-1], below_new[-1])
        for i, olds in enumerate(below_old[:-1]):
            j = self._to[i]
            if olds and j is not None and below_new[j]:
                self._align(olds, below_new[j])

    def _align(self, olds: list[int], news: list[int]) -> None:
        """Pair lines of two rows in order: never across lines that are paired already."""
        passes: list[Callable[[Node], Hashable]] = [_line, _element, _kind]
        for key in passes:
            gaps = self._gaps(olds, news)
            if not gaps:
                return
            for left, right in gaps:
                for a, b in align(
                    [key(self._old[i]) for i in left], [key(self._new[j]) for j in right]
                ):
                    self._pair(left[a], right[b])

    def _gaps(self, olds: list[int], news: list[int]) -> list[tuple[list[int], list[int]]]:
        """Unpaired lines of two rows, between neighbours of a longest run of pairs in order."""
        to, taken = self._to, self._taken
        left = [i for i in olds if to[i] is None]
        right = [j for j in news if not taken[j]]
        if not left or not right:
            return []
        if len(left) == len(olds) or len(right) == len(news):
            return [(left, right)]
        place = {j: y for y, j in enumerate(news)}
        paired = [
            (x, place[j]) for x, i in enumerate(olds) if (j := to[i]) is not None and j in place
        ]
        spine = [paired[k] for k in increasing([y for _, y in paired])]
        gaps: list[tuple[list[int], list[int]]] = []
        a = c = 0
        for x, y in [*spine, (len(olds), len(news))]:
            if a < x and c < y:
                left = [i for i in olds[a:x] if to[i] is None]
                right = [j for j in news[c:y] if not taken[j]]
                if left and right:
                    gaps.append((left, right))
            a, c = x + 1, y + 1
        return gaps

    def _give_up_remade(self) -> None:
        """Unpair elements that were made again and hold mostly something else, with all below."""
        old, new, to = self._old, self._new, self._to
        remade = {i for i, j in enumerate(to) if j is not None and old[i].bid != new[j].bid}
        if not remade:
            return
        size, kept = self._below_and_kept()
        given_up: set[int] = set()
        for i, up in enumerate(self._old_parents):
            is_other = i in remade and size[i] >= REMADE_LINES and kept[i] < REMADE_SHARE * size[i]
            if is_other or up in given_up:
                given_up.add(i)
                if i in remade or old[i].bid is None:
                    to[i] = None

    def _below_and_kept(self) -> tuple[list[int], list[int]]:
        """How many lines lie below each old line, and how many of those still say the same."""
        size = [0] * len(self._old)
        kept = [0] * len(self._old)
        for i in range(len(self._old) - 1, -1, -1):
            up = self._old_parents[i]
            if up >= 0:
                j = self._to[i]
                size[up] += size[i] + 1
                kept[up] += kept[i] + (j is not None and is_same(self._old[i], self._new[j]))
        return size, kept


def is_same(one: Node, other: Node) -> bool:
    """Whether two lines show the same role and name, both with a bid or both without."""
    return one is other or (
        one.role == other.role
        and one.name == other.name
        and (one.bid is None) == (other.bid is None)
    )


def survivors(old: Tree, new: Tree, pairs: Match) -> int:
    """Lines below the root that are still there under the same role and name."""
    return sum(is_same(old[i], new[j]) for i, j in enumerate(pairs) if i and j is not None)


def _below(above: list[int]) -> list[list[int]]:
    """Lines directly below each line; the last entry, which is also that of -1: at the top."""
    below: list[list[int]] = [[] for _ in range(len(above) + 1)]
    for i, up in enumerate(above):
        below[up].append(i)
    return below


def _line(node: Node) -> Hashable:
    return (node.role, node.name, node.bid is None, node.attrs)


def _element(node: Node) -> Hashable:
    return (node.role, node.name, node.bid is None)


def _kind(node: Node) -> Hashable:
    """An unexplained line has no kind but itself."""
    return (node.role, node.bid is None, None if node.role else node.name)
