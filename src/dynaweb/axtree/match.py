"""Which lines of two pages are the same element: by identity first, then by role, name and place.

A bid is identity while it is stable. Where a page was renumbered (most elements of one bid differ
in role or name) bids say nothing, and elements are assigned by what they are and where they stand,
so that renumbered pages don't read as all new (papers F5; WMA's transition-focused abstraction).
"""

from collections.abc import Callable, Hashable

from dynaweb.axtree.align import align, increasing
from dynaweb.axtree.tree import Node, Tree

STABLE_SHARE = 0.5
"""Bids are identity when at least this share of the bids that both pages show have the same role
and name in both (ours)."""

Match = list[int | None]
"""For each old line the new line that is the same element."""

Gap = tuple[list[int], list[int]]


def match(old: Tree, new: Tree) -> Match:
    """Pair the lines of two pages, one to one; both lines of a pair have a bid, or neither has."""
    return _Matcher(old, new).run()


class _Matcher:
    def __init__(self, old: Tree, new: Tree) -> None:
        self._old, self._new = old, new
        self._to: Match = [None] * len(old)
        self._taken = [False] * len(new)

    def run(self) -> Match:
        shared, stable = self._match_bids()
        if (
            self._old
            and self._new
            and self._free(0, 0)
            and _kind(self._old[0]) == _kind(self._new[0])
        ):
            self._pair(0, 0)
        self._fill(self._spine_gaps(), _line)
        self._fill(self._spine_gaps(), _element)
        self._fill(self._moved_gaps(), _element)
        self._fill(self._spine_gaps(), _kind, only_bidless=stable)
        self._fill(self._moved_gaps(), _kind, only_bidless=stable)
        for i, j in shared if stable else []:
            if self._free(i, j):
                self._pair(i, j)
        return self._to

    def _free(self, i: int, j: int) -> bool:
        return self._to[i] is None and not self._taken[j]

    def _pair(self, i: int, j: int) -> None:
        self._to[i] = j
        self._taken[j] = True

    def _match_bids(self) -> tuple[list[tuple[int, int]], bool]:
        """Pair elements of one bid and role; the bids both pages show, and whether they are stable."""
        left, right = _once(self._old), _once(self._new)
        shared = [(left[b], right[b]) for b in left if b in right]
        same = sum(1 for i, j in shared if _element(self._old[i]) == _element(self._new[j]))
        if same < STABLE_SHARE * len(shared):
            return shared, False
        for i, j in shared:
            if self._old[i].role == self._new[j].role:
                self._pair(i, j)
        return shared, True

    def _fill(
        self, gaps: list[Gap], key: Callable[[Node], Hashable], *, only_bidless: bool = False
    ) -> None:
        """Pair lines of one key, in order, within each gap."""
        for olds, news in gaps:
            left = [
                i
                for i in olds
                if self._to[i] is None and not (only_bidless and self._old[i].bid is not None)
            ]
            right = [
                j
                for j in news
                if not self._taken[j] and not (only_bidless and self._new[j].bid is not None)
            ]
            for a, b in align(
                [key(self._old[i]) for i in left], [key(self._new[j]) for j in right]
            ):
                self._pair(left[a], right[b])

    def _paired(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Pairs that kept their order (the spine), and pairs that moved."""
        paired = [(i, j) for i, j in enumerate(self._to) if j is not None]
        chain = set(increasing([j for _, j in paired]))
        return [p for k, p in enumerate(paired) if k in chain], [
            p for k, p in enumerate(paired) if k not in chain
        ]

    def _spine_gaps(self) -> list[Gap]:
        """Unpaired lines between neighbours of the spine."""
        gaps: list[Gap] = []
        a = c = 0
        for i, j in [*self._paired()[0], (len(self._old), len(self._new))]:
            olds = [x for x in range(a, i) if self._to[x] is None]
            news = [x for x in range(c, j) if not self._taken[x]]
            if olds and news:
                gaps.append((olds, news))
            a, c = i + 1, j + 1
        return gaps

    def _moved_gaps(self) -> list[Gap]:
        """Unpaired lines that follow an element that moved: most often what lies below it."""
        gaps: list[Gap] = []
        for i, j in self._paired()[1]:
            a, c = i + 1, j + 1
            while a < len(self._old) and self._to[a] is None:
                a += 1
            while c < len(self._new) and not self._taken[c]:
                c += 1
            if a > i + 1 and c > j + 1:
                gaps.append((list(range(i + 1, a)), list(range(j + 1, c))))
        return gaps


def _once(tree: Tree) -> dict[str, int]:
    """Index of each bid that the page shows exactly once."""
    at: dict[str, int] = {}
    twice: set[str] = set()
    for i, node in enumerate(tree):
        if node.bid is not None:
            if node.bid in at:
                twice.add(node.bid)
            at[node.bid] = i
    return {bid: i for bid, i in at.items() if bid not in twice}


def _line(node: Node) -> Hashable:
    return (node.depth, node.role, node.name, node.bid is None, node.attrs)


def _element(node: Node) -> Hashable:
    return (node.role, node.name, node.bid is None)


def _kind(node: Node) -> Hashable:
    """An unexplained line has no kind but itself."""
    return (node.role, node.bid is None, None if node.role else node.name)
