"""A state change put into effect on the lines of a page. Deterministic, linear, total: lines or DeltaError."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dynaweb.axtree.order import insert_attr
from dynaweb.axtree.place import Places, next_bid
from dynaweb.axtree.tree import Node, Tree, read_tree, render_node
from dynaweb.axtree.words import Words
from dynaweb.errors import DeltaError
from dynaweb.records.action import Action
from dynaweb.records.delta import START, Content, Delta, DeltaKind, Moved, New, Rewritten, Updated

WHOLE_PAGE = (DeltaKind.FULL_PAGE, DeltaKind.NEW_TAB)


@dataclass(frozen=True, slots=True)
class Edited:
    """The next page, and where its lines come from."""

    tree: Tree
    origins: tuple[int | None, ...]
    """For each line the index of the old line that it was, None when it is new."""


def edit(places: Places, action: Action, delta: Delta) -> Edited:
    """The next page before renumbering.

    Raises:
        DeltaError: the change does not fit the page.
    """
    tree, words = places.tree, Words(places, action)
    if delta.kind in WHOLE_PAGE:
        return _whole(tree, delta, words)
    if delta.kind is not DeltaKind.LOCAL:
        if delta.updated or delta.deleted or delta.placed or delta.shifted:
            raise DeltaError(f"a change of kind {delta.kind.value!r} changes no elements")
        return Edited(tree, tuple(range(len(tree))))
    return _Edit(places, delta, words).run()


def _whole(tree: Tree, delta: Delta, words: Words) -> Edited:
    items = (
        delta.placed[0].items if len(delta.placed) == 1 and delta.placed[0].after == START else ()
    )
    if not items or delta.updated or delta.deleted or delta.shifted:
        raise DeltaError("a whole new page is one run of new lines and nothing else")
    bid = next_bid(tree)
    nodes: list[Node] = []
    for item in items:
        if isinstance(item, Moved):
            raise DeltaError(f"a whole new page keeps no old element, but names {item.ref!r}")
        nodes.append(make_node(item, str(bid) if item.has_bid else None, words))
        bid += item.has_bid
    return Edited(tuple(nodes), (None,) * len(nodes))


def make_node(new: New, bid: str | None, words: Words) -> Node:
    """The line of a new element.

    Raises:
        DeltaError: it could not be read back as this one line.
    """
    return _checked(_filled(Node(new.depth, bid, "", None), new.content, words))


def _filled(node: Node, content: Content, words: Words) -> Node:
    if not content.role:
        return Node(node.depth, node.bid, "", content.name)
    name = None if content.name is None else words.unfold(content.name)
    attrs = tuple((k, words.unfold_value(v)) for k, v in content.attrs)
    return Node(node.depth, node.bid, content.role, name, attrs)


def _checked(node: Node) -> Node:
    if node.depth < 0:
        raise DeltaError(f"{node.role} {node.name!r} would lie above the root")
    line = render_node(node)
    if read_tree(line) != (node,):
        raise DeltaError(f"{line[:80]!r} is not one line of a tree")
    return node


class _Edit:
    def __init__(self, places: Places, delta: Delta, words: Words) -> None:
        self._tree = places.tree
        self._delta = delta
        self._words = words
        self._places = places
        self._moved = self._read_moved()
        self._gone, self._alone = self._read_deleted()
        self._next = next_bid(self._tree)

    def run(self) -> Edited:
        shifts = self._read_shifts()
        changed = self._read_updates()
        runs = self._read_runs()
        blocks = self._blocks()
        nodes: list[Node] = []
        origins: list[int | None] = []
        for at in self._emit(runs, blocks):
            if isinstance(at, New):
                nodes.append(make_node(at, self._bid(at), self._words))
                origins.append(None)
                continue
            node = self._tree[at]
            if shifts[at] or at in changed:
                node = changed.get(at, node)
                node = _checked(node._replace(depth=node.depth + shifts[at]))
            nodes.append(node)
            origins.append(at)
        kept = len(origins) - origins.count(None)
        if kept != len(self._tree) - len(self._gone) or runs:
            raise DeltaError("lines are placed after an element that is gone, or after themselves")
        return Edited(tuple(nodes), tuple(origins))

    def _bid(self, new: New) -> str | None:
        if not new.has_bid:
            return None
        self._next += 1
        return str(self._next - 1)

    def _find(self, ref: str) -> int:
        at = self._places.find(ref)
        if at < 0:
            raise DeltaError("the place before the first line is no element")
        return at

    def _read_moved(self) -> dict[int, int]:
        """Index of each moved element -> its new depth."""
        moved: dict[int, int] = {}
        for placed in self._delta.placed:
            for item in placed.items:
                if isinstance(item, Moved):
                    at = self._find(item.ref)
                    if at in moved:
                        raise DeltaError(f"element {item.ref!r} is moved twice")
                    moved[at] = item.depth
        return moved

    def _read_deleted(self) -> tuple[set[int], set[int]]:
        """Every line that goes, and those of them that leave what lies below."""
        whole: set[int] = set()
        alone: set[int] = set()
        for d in self._delta.deleted:
            at = self._find(d.ref)
            to = at if d.to is None else self._find(d.to)
            if to < at or (d.alone and d.to is not None):
                raise DeltaError(f"deleted {d.ref!r} to {d.to!r} is no row of elements")
            if d.alone:
                alone.add(at)
            elif at not in whole:
                whole.update(range(at, self._places.ends[to]))
        gone = whole | alone
        if not gone.isdisjoint(self._moved):
            raise DeltaError("an element is both moved and deleted")
        return gone, alone

    def _read_shifts(self) -> list[int]:
        """How much deeper each old line lies; below a line deleted alone, one less deep."""
        given = {self._find(s.ref): s.by for s in self._delta.shifted}
        given.update({at: depth - self._tree[at].depth for at, depth in self._moved.items()})
        if not given and not self._alone:
            return [0] * len(self._tree)
        shifts: list[int] = []
        for at, up in enumerate(self._places.parents):
            above = shifts[up] - (up in self._alone) if up >= 0 else 0
            shifts.append(given.get(at, above))
        return shifts

    def _read_updates(self) -> dict[int, Node]:
        changed: dict[int, Node] = {}
        for u in self._delta.updated:
            at = self._find(u.ref)
            if at in changed or at in self._gone:
                raise DeltaError(f"element {u.ref!r} is changed twice, or changed and deleted")
            changed[at] = self._changed(self._tree[at], u)
        return changed

    def _changed(self, node: Node, u: Updated | Rewritten) -> Node:
        if isinstance(u, Rewritten):
            return _filled(node, u.content, self._words)
        return update_node(node, u, self._words)

    def _read_runs(self) -> dict[int, Sequence[New | Moved]]:
        runs: dict[int, Sequence[New | Moved]] = {}
        for placed in self._delta.placed:
            at = self._places.find(placed.after)
            if at in runs or not placed.items:
                raise DeltaError(f"lines are placed twice, or none, after {placed.after!r}")
            runs[at] = placed.items
        return runs

    def _blocks(self) -> dict[int, list[int]]:
        """Surviving old lines that travel together, by the moved element they lie below; -1: none."""
        if not self._moved:
            return {-1: [at for at in range(len(self._tree)) if at not in self._gone]}
        blocks: dict[int, list[int]] = {-1: []}
        owner: list[int] = []
        for at, up in enumerate(self._places.parents):
            owner.append(at if at in self._moved else owner[up] if up >= 0 else -1)
            if at not in self._gone:
                blocks.setdefault(owner[at], []).append(at)
        return blocks

    def _emit(
        self, runs: dict[int, Sequence[New | Moved]], blocks: dict[int, list[int]]
    ) -> list[New | int]:
        """Old line numbers and new elements in the order of the next page; uses up `runs`."""
        order: list[New | int] = []
        stack: list[Iterator[New | Moved | int]] = [iter(blocks.pop(-1)), iter(runs.pop(-1, ()))]
        while stack:
            for item in stack[-1]:
                if isinstance(item, Moved):
                    stack.append(iter(blocks.pop(self._find(item.ref))))
                    break
                order.append(item)
                if isinstance(item, int) and item in runs:
                    stack.append(iter(runs.pop(item)))
                    break
            else:
                stack.pop()
        return order


def update_node(node: Node, u: Updated, words: Words) -> Node:
    """An element with a new name, attributes set in their usual place, and attributes taken away.

    Raises:
        DeltaError: an attribute that is not there is taken away.
    """
    if not node.role:
        raise DeltaError(f"line {(node.name or '')[:60]!r} has no name and attributes to change")
    there = {k for k, _ in node.attrs}
    missing = [k for k in u.unset if k not in there]
    if missing:
        raise DeltaError(f"element {u.ref!r} has no attribute {missing[0][:40]!r} to take away")
    attrs = tuple(pair for pair in node.attrs if pair[0] not in u.unset)
    for key, value in u.set:
        attrs = insert_attr(attrs, key, words.unfold_value(value))
    name = node.name if u.name is None else words.unfold(u.name)
    return node._replace(name=name, attrs=attrs)
