"""Addresses of lines, and the shape of a tree: who lies below whom.

An address points at an element by its bid, or, where it has none, by how many such lines stand
between it and the nearest bid above (`records.delta`). A bid that a page wrongly shows twice
addresses its first line; the second is counted like a line without one.
"""

import re
from collections.abc import Sequence

from dynaweb.axtree.tree import Node, Tree
from dynaweb.errors import DeltaError
from dynaweb.records.delta import ROOT, START

REF = re.compile(r"(?:root|[A-Za-z0-9]+)(?:\+[1-9][0-9]{0,6})?")
MAX_BID = 999_999_999


def addresses(tree: Tree) -> list[str]:
    """The address of every line, in document order; all different."""
    seen: set[str] = set()
    refs: list[str] = []
    base, since = ROOT, -1
    for node in tree:
        if node.bid is not None and node.bid not in seen and node.bid != ROOT:
            seen.add(node.bid)
            base, since = node.bid, 0
        else:
            since += 1
        refs.append(f"{base}+{since}" if since else base)
    return refs


class Places:
    """Lines of one page by address."""

    def __init__(self, tree: Tree) -> None:
        self._at = {ref: i for i, ref in enumerate(addresses(tree))}

    def find(self, ref: str) -> int:
        """Index of a line; -1 for the place before the first.

        Raises:
            DeltaError: no line has this address.
        """
        if ref == START:
            return -1
        at = self._at.get(ref)
        if at is None:
            raise DeltaError(f"address {ref[:40]!r} is not on the page")
        return at


def parents(tree: Sequence[Node]) -> list[int]:
    """Index of the line that each line lies below; -1 at the top."""
    above: list[int] = []
    found: list[int] = []
    for i, node in enumerate(tree):
        while above and tree[above[-1]].depth >= node.depth:
            above.pop()
        found.append(above[-1] if above else -1)
        above.append(i)
    return found


def ends(above: Sequence[int]) -> list[int]:
    """For each line where what lies below it ends: the index after its last line below.

    Args:
        above: the tree's `parents`.
    """
    end = list(range(1, len(above) + 1))
    for i in range(len(above) - 1, -1, -1):
        if above[i] >= 0:
            end[above[i]] = max(end[above[i]], end[i])
    return end


def next_bid(tree: Tree) -> int:
    """The number after the largest on the page."""
    numbers = [
        int(n.bid)
        for n in tree
        if n.bid is not None and n.bid.isascii() and n.bid.isdigit() and len(n.bid) < 10
    ]
    return max(numbers, default=0) + 1
