"""The lines of two pages, paired, as a local change: updated, deleted, shifted, new and moved."""

from dynaweb.axtree.align import increasing
from dynaweb.axtree.edit import update_node
from dynaweb.axtree.match import Match
from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import Node, Tree, render_attr
from dynaweb.axtree.words import Words
from dynaweb.errors import DeltaError
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

    def __init__(self, old: Places, new: Tree, pairs: Match, words: Words) -> None:
        self._places, self._old, self._new = old, old.tree, new
        self._words = words
        self._to: Match = list(pairs)
        self._moved = self._find_moved()
        self.origins = _origins(self._to, len(new))
        """For each new line the old line that it was, None where it is new."""

    def delta(self) -> Delta:
        """The change."""
        return Delta(
            kind=DeltaKind.LOCAL,
            updated=self._updated(),
            deleted=self._deleted(),
            placed=self._placed(),
            shifted=self._shifted(),
        )

    def _find_moved(self) -> set[int]:
        """Elements that moved with everything below them.

        A pair that is out of order and does not travel as one block is given up: it is then an
        element deleted here and a new one there.
        """
        order = [i for i in _origins(self._to, len(self._new)) if i is not None]
        in_place = sorted(order)
        if order == in_place:
            return set()
        kept = {order[k] for k in increasing(order)}
        below = self._surviving_below()
        lengths = _run_lengths(order, in_place, kept)
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

    def _surviving_below(self) -> list[int]:
        """How many of the lines below each old line are still there."""
        parents = self._places.parents
        count = [0] * len(parents)
        for i in range(len(parents) - 1, 0, -1):
            if parents[i] >= 0:
                count[parents[i]] += count[i] + (self._to[i] is not None)
        return count

    def _updated(self) -> tuple[Updated | Rewritten, ...]:
        updated: list[Updated | Rewritten] = []
        for i, j in enumerate(self._to):
            if j is None or _says_the_same(self._old[i], self._new[j]):
                continue
            ref, b = self._places.ref(i), self._new[j]
            change = self._attributes(ref, self._old[i], b)
            updated.append(
                Rewritten(ref=ref, content=content(b, self._words)) if change is None else change
            )
        return tuple(updated)

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
            exact = _says_the_same(update_node(a, change, self._words), b)
        except DeltaError:
            return None
        return change if exact else None

    def _deleted(self) -> tuple[Deleted, ...]:
        if None not in self._to:
            return ()
        below = self._surviving_below()
        end = self._places.ends
        deleted: list[Deleted] = []
        stop = 0
        for i, j in enumerate(self._to):
            if j is not None or i < stop:
                continue
            row = below[i] == 0 and i == stop and bool(deleted) and not deleted[-1].alone
            ref = self._places.ref(i)
            if row:
                deleted[-1] = Deleted(ref=deleted[-1].ref, to=ref)
            else:
                deleted.append(Deleted(ref=ref, alone=below[i] > 0))
            stop = end[i] if below[i] == 0 else stop
        return tuple(deleted)

    def _shifted(self) -> tuple[Shifted, ...]:
        old, new, to = self._old, self._new, self._to
        shifts: list[int] = []
        shifted: list[Shifted] = []
        for i, (j, up) in enumerate(zip(to, self._places.parents, strict=True)):
            inherited = shifts[up] - (to[up] is None) if up >= 0 else 0
            by = inherited if j is None else new[j].depth - old[i].depth
            if by != inherited and i not in self._moved:
                shifted.append(Shifted(ref=self._places.ref(i), by=by))
            shifts.append(by)
        return tuple(shifted)

    def _placed(self) -> tuple[Placed, ...]:
        """New and moved lines in runs; a run goes on behind a moved block that it holds."""
        if not self._moved and None not in self.origins:
            return ()
        runs: dict[int, list[New | Moved]] = {}
        after = outer = -1
        inside = 0
        below = self._surviving_below()
        for node, i in zip(self._new, self.origins, strict=True):
            if i is None:
                runs.setdefault(after if inside else outer, []).append(new_line(node, self._words))
            elif i in self._moved:
                moved = Moved(depth=node.depth, ref=self._places.ref(i))
                runs.setdefault(outer, []).append(moved)
                after, inside = i, below[i]
            elif inside:
                after, inside = i, inside - 1
            else:
                after = outer = i
        return tuple(
            Placed(after=START if at < 0 else self._places.ref(at), items=tuple(items))
            for at, items in runs.items()
        )


def _origins(pairs: Match, count: int) -> Match:
    """The pairs the other way round: for each of `count` new lines the old line, or None."""
    origins: Match = [None] * count
    for i, j in enumerate(pairs):
        if j is not None:
            origins[j] = i
    return origins


def _run_lengths(order: list[int], in_place: list[int], kept: set[int]) -> list[int]:
    """How many items from each place on follow each other in both pages, none of them kept."""
    rank = {i: r for r, i in enumerate(in_place)}
    lengths = [0] * (len(order) + 1)
    for at in range(len(order) - 1, -1, -1):
        if order[at] not in kept:
            follows = at + 1 < len(order) and rank[order[at + 1]] == rank[order[at]] + 1
            lengths[at] = 1 + (lengths[at + 1] if follows else 0)
    return lengths


def _says_the_same(a: Node, b: Node) -> bool:
    """Whether two lines differ in nothing but depth and bid; `level=1` is not `level=True`."""
    return a is b or (
        a.role == b.role
        and a.name == b.name
        and (a.attrs is b.attrs or (a.attrs == b.attrs and repr(a.attrs) == repr(b.attrs)))
    )
