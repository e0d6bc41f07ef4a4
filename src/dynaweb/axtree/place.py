"""Addresses of lines, and the shape of a tree: who lies below whom.

An address points at an element by its bid, or, where it has none, by how many such lines stand
between it and the nearest bid above (`records.delta`). A bid that a page wrongly shows twice
addresses its first line; the second is counted like a line without one.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from dynaweb.axtree.tree import Tree
from dynaweb.errors import DeltaError
from dynaweb.records.delta import ROOT, START

REF = re.compile(r"(?:root|[A-Za-z0-9]+)(?:\+[1-9][0-9]{0,6})?")
MAX_BID = 999_999_999


class Places:
    """The lines of one page by address, and who lies below whom: worked out once for everyone who asks."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        first: dict[str, int] = {}
        repeated: set[str] = set()
        anchors: list[int] = []
        parents: list[int] = []
        above, depths = [-1], [-1]
        anchor = 0
        # one loop for all of it: on a big page each loop reads the whole page into the cache again
        for i, node in enumerate(tree):
            depth, bid = node[:2]
            if bid is not None and bid != ROOT:
                if bid not in first:
                    first[bid] = anchor = i
                else:
                    repeated.add(bid)
            anchors.append(anchor)
            while depths[-1] >= depth:
                depths.pop()
                above.pop()
            parents.append(above[-1])
            above.append(i)
            depths.append(depth)
        self._first, self._repeated, self._anchors = first, repeated, anchors
        self.parents = parents
        """Index of the line that each line lies below; -1 at the top."""

    @property
    def once(self) -> dict[str, int]:
        """Index of each bid that the page shows exactly once."""
        if not self._repeated:
            return self._first
        return {bid: i for bid, i in self._first.items() if bid not in self._repeated}

    def ref(self, at: int) -> str:
        """The address of a line; all are different."""
        anchor = self._anchors[at]
        bid = self.tree[anchor].bid
        base = bid if bid is not None and self._first.get(bid) == anchor else ROOT
        return base if at == anchor else f"{base}+{at - anchor}"

    def find(self, ref: str) -> int:
        """Index of a line; -1 for the place before the first.

        Raises:
            DeltaError: no line has this address.
        """
        if ref == START:
            return -1
        base, _, count = ref.partition("+")
        at = self._first.get(base, 0)
        if count.isdecimal() and len(count) < 8:
            at += int(count)
        if at >= len(self.tree) or self.ref(at) != ref:
            raise DeltaError(f"address {ref[:40]!r} is not on the page")
        return at

    @cached_property
    def ends(self) -> list[int]:
        """For each line where what lies below it ends: the index after its last line below."""
        return ends(self.parents)


def ends(above: Sequence[int]) -> list[int]:
    """For each line where what lies below it ends: the index after its last line below.

    Args:
        above: the tree's `Places.parents`.
    """
    end = list(range(1, len(above) + 1))
    for i in range(len(above) - 1, -1, -1):
        up = above[i]
        if up >= 0 and end[up] < end[i]:
            end[up] = end[i]
    return end


def next_bid(tree: Tree) -> int:
    """The number after the largest on the page."""
    numbers = [
        int(n.bid)
        for n in tree
        if n.bid is not None and n.bid.isascii() and n.bid.isdigit() and len(n.bid) < 10
    ]
    return max(numbers, default=0) + 1
