"""Two pages line by line, for people: what is gone, new, moved or renumbered, by the matching that state changes rest on.

Not a text diff: where a page was renumbered, a text diff says that every line is new.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from dynaweb.axtree.align import increasing
from dynaweb.axtree.match import match
from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import Node, Tree, render_node


class Mark(StrEnum):
    """What became of a line."""

    KEPT = " "
    GONE = "-"
    NEW = "+"
    MOVED = ">"
    """Stands somewhere else now."""
    RENUMBERED = "#"
    """The same under another bid."""


class DiffLine(NamedTuple):
    """One line of either page; a line that says something else is one that is gone and a new one."""

    mark: Mark
    node: Node

    @property
    def text(self) -> str:
        """The line as it stands on its page."""
        return render_node(self.node)


def line_diff(old: Tree, new: Tree) -> list[DiffLine]:
    """Every line of the new page in order, and between them those of the old one that are not there any more."""
    pairs = match(Places(old), Places(new))
    both = [(i, j) for i, j in enumerate(pairs) if j is not None]
    kept = {both[k][1]: both[k][0] for k in increasing([j for _, j in both])}
    origin = {j: i for i, j in both}
    lines: list[DiffLine] = []
    at = 0
    for j, until in enumerate(_next_kept(kept, len(new), len(old))):
        # what is gone stands before what is new in its place
        lines += _gone(old, pairs, at, until)
        at = until
        if j in kept:
            lines += _kept(old[until], new[j])
            at += 1
        else:
            lines.append(DiffLine(Mark.MOVED if j in origin else Mark.NEW, new[j]))
    return lines + _gone(old, pairs, at, len(old))


def _next_kept(kept: Mapping[int, int], count: int, end: int) -> list[int]:
    """For each new line the old line that is kept there or next after it; `end` where none is."""
    found: list[int] = []
    for j in reversed(range(count)):
        end = kept.get(j, end)
        found.append(end)
    return found[::-1]


def _gone(old: Tree, pairs: Sequence[int | None], begin: int, end: int) -> list[DiffLine]:
    """Lines that moved are shown where they are now."""
    return [DiffLine(Mark.GONE, old[i]) for i in range(begin, end) if pairs[i] is None]


def _kept(was: Node, now: Node) -> list[DiffLine]:
    if was == now:
        return [DiffLine(Mark.KEPT, now)]
    if Node(was.depth, now.bid, was.role, was.name, was.attrs) == now:
        return [DiffLine(Mark.RENUMBERED, now)]
    return [DiffLine(Mark.GONE, was), DiffLine(Mark.NEW, now)]


def with_context(lines: Sequence[DiffLine], context: int) -> list[DiffLine | int]:
    """The changed lines with so many others around them; a number stands for as many lines left out."""
    quiet = (Mark.KEPT, Mark.RENUMBERED)
    shown: set[int] = set()
    for at, line in enumerate(lines):
        if line.mark not in quiet:
            shown.update(range(at - context, at + context + 1))
    found: list[DiffLine | int] = []
    left_out = 0
    for at, line in enumerate(lines):
        if at in shown:
            found += [left_out, line] if left_out else [line]
            left_out = 0
        else:
            left_out += 1
    return [*found, left_out] if left_out else found
