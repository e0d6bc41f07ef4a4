"""The lines of two pages, paired, as a local change: updated, deleted, shifted, new and moved."""

from dynaweb.axtree.align import increasing
from dynaweb.axtree.edit import update_node
from dynaweb.axtree.match import Match
from dynaweb.axtree.place import addresses, ends, parents
from dynaweb.axtree.tree import Node, Tree, render_attr, render_node
from dynaweb.axtree.words import Words
from dynaweb.errors import DeltaError
from dynaweb.records.action import Action
from dynaweb.records.delta import (
    START,
    Content,
    Deleted,
    Delta,
    DeltaKind,
    Moved,
    New,
    Placed,
    Rewritten,
    Shifted,
    Updated,
)


def content(node: Node, words: Words) -> Content:
    """What a line says, in words."""
    if not node.role:
        return Content(role="", name=node.name)
    name = None if node.name is None else words.fold(node.name)
    return Content(
        role=node.role, name=name, attrs=tuple((k, words.fold_value(k, v)) for k, v in node.attrs)
    )


def new_line(node: Node, words: Words) -> New:
    """A line as a new element."""
    return New(depth=node.depth, content=content(node, words), has_bid=node.bid is not None)


class TreeDiff:
    """One comparison; `delta()` gives the change without frame and renumbering."""

    def __init__(self, old: Tree, new: Tree, pairs: Match, action: Action) -> None:
        self._old, self._new = old, new
        self._words = Words(old, action)
        self._refs = addresses(old)
        self._parents = parents(old)
        self._to: Match = list(pairs)
        self._moved = self._find_moved()
        self._from: list[int | None] = [None] * len(new)
        for i, j in enumerate(self._to):
            if j is not None:
                self._from[j] = i

    def delta(self) -> Delta:
        """The change."""
        return Delta(
            kind=DeltaKind.LOCAL,
            updated=tuple(u for i in range(len(self._old)) if (u := self._updated(i)) is not None),
            deleted=self._deleted(),
            placed=self._placed(),
            shifted=self._shifted(),
        )

    def _find_moved(self) -> set[int]:
        """Elements that moved with everything below them.

        A pair that is out of order and does not travel as one block is given up: it is then an
        element deleted here and a new one there.
        """
        order = [i for _, i in sorted((j, i) for i, j in enumerate(self._to) if j is not None)]
        kept = {order[k] for k in increasing(order)}
        below = self._surviving_below(order)
        lengths = _run_lengths(order, kept)
        moved: set[int] = set()
        at = 0
        while at < len(order):
            i, size = order[at], 1
            if i not in kept and lengths[at] > below[i]:
                moved.add(i)
                size += below[i]
            elif i not in kept:
                self._to[i] = None
            at += size
        return moved

    def _surviving_below(self, order: list[int]) -> dict[int, int]:
        count = dict.fromkeys(range(len(self._old)), 0)
        alive = set(order)
        for i in range(len(self._old) - 1, -1, -1):
            up = self._parents[i]
            if up >= 0:
                count[up] += count[i] + (i in alive)
        return count

    def _updated(self, i: int) -> Updated | Rewritten | None:
        j = self._to[i]
        if j is None:
            return None
        a, b = self._old[i], self._new[j]
        if _says(a) == _says(b):
            return None
        change = self._attributes(self._refs[i], a, b)
        return (
            change
            if change is not None
            else Rewritten(ref=self._refs[i], content=content(b, self._words))
        )

    def _attributes(self, ref: str, a: Node, b: Node) -> Updated | None:
        """The change by name and attributes; None where that would not give the line exactly."""
        if a.role != b.role or not a.role or (b.name is None and a.name is not None):
            return None
        was = {k: render_attr(k, v) for k, v in a.attrs}
        there = {k for k, _ in b.attrs}
        change = Updated(
            ref=ref,
            name=self._words.fold(b.name) if b.name is not None and b.name != a.name else None,
            set=tuple(
                (k, self._words.fold_value(k, v))
                for k, v in b.attrs
                if was.get(k) != render_attr(k, v)
            ),
            unset=tuple(k for k, _ in a.attrs if k not in there),
        )
        try:
            exact = _says(update_node(a, change, self._words)) == _says(b)
        except DeltaError:
            return None
        return change if exact else None

    def _deleted(self) -> tuple[Deleted, ...]:
        below = self._surviving_below([i for i, j in enumerate(self._to) if j is not None])
        end = ends(self._parents)
        deleted: list[Deleted] = []
        stop = 0
        for i, j in enumerate(self._to):
            if j is not None or i < stop:
                continue
            row = below[i] == 0 and i == stop and bool(deleted) and not deleted[-1].alone
            if row:
                deleted[-1] = Deleted(ref=deleted[-1].ref, to=self._refs[i])
            else:
                deleted.append(Deleted(ref=self._refs[i], alone=below[i] > 0))
            stop = end[i] if below[i] == 0 else stop
        return tuple(deleted)

    def _shifted(self) -> tuple[Shifted, ...]:
        shifts: list[int] = []
        shifted: list[Shifted] = []
        for i, j in enumerate(self._to):
            up = self._parents[i]
            inherited = shifts[up] - (self._to[up] is None) if up >= 0 else 0
            by = inherited if j is None else self._new[j].depth - self._old[i].depth
            if by != inherited and i not in self._moved:
                shifted.append(Shifted(ref=self._refs[i], by=by))
            shifts.append(by)
        return tuple(shifted)

    def _placed(self) -> tuple[Placed, ...]:
        """New and moved lines in runs; a run goes on behind a moved block that it holds."""
        runs: dict[str, list[New | Moved]] = {}
        after = outer = START
        inside = 0
        below = self._surviving_below([i for i, j in enumerate(self._to) if j is not None])
        for node, i in zip(self._new, self._from, strict=True):
            if i is None:
                runs.setdefault(after if inside else outer, []).append(new_line(node, self._words))
            elif i in self._moved:
                runs.setdefault(outer, []).append(Moved(depth=node.depth, ref=self._refs[i]))
                after, inside = self._refs[i], below[i]
            elif inside:
                after, inside = self._refs[i], inside - 1
            else:
                after = outer = self._refs[i]
        return tuple(Placed(after=ref, items=tuple(items)) for ref, items in runs.items())


def _run_lengths(order: list[int], kept: set[int]) -> list[int]:
    """How many items from each place on follow each other in both pages, none of them kept."""
    rank = {i: r for r, i in enumerate(sorted(order))}
    lengths = [0] * (len(order) + 1)
    for at in range(len(order) - 1, -1, -1):
        if order[at] not in kept:
            follows = at + 1 < len(order) and rank[order[at + 1]] == rank[order[at]] + 1
            lengths[at] = 1 + (lengths[at + 1] if follows else 0)
    return lengths


def _says(node: Node) -> str:
    return render_node(Node(0, None, node.role, node.name, node.attrs))
