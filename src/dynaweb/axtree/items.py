"""What an action changed as lists of items: new, updated, deleted.

The transition-focused abstraction of WMA (arXiv 2410.13232, appendix), which RLVR-World (arXiv 2505.13934) predicts as three
sections. They pair elements by Hungarian matching on name, role and position; here lines are paired as state changes pair them
(`match`), by identity first. A page that is another one is given whole, as there.
"""

from dataclasses import dataclass

from dynaweb.axtree.diff import page_kind
from dynaweb.axtree.edit import WHOLE_PAGE
from dynaweb.axtree.match import match
from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import Node, read_tree, render_node
from dynaweb.records.observation import Observation

NONE = "None"
"""Stands in a section without items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """Lines that changed, in document order, without their depth."""

    new: tuple[str, ...] = ()
    """Of the next page."""
    updated: tuple[str, ...] = ()
    """As the next page has them."""
    deleted: tuple[str, ...] = ()
    """Of the page before."""
    whole: bool = False
    """Another page: `new` is all of it."""
    frame: tuple[str, ...] = ()
    """`address:`, `title:` and `error:` lines, where those changed."""

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self.new) + len(self.updated) + len(self.deleted) + len(self.frame)


def changed_items(before: Observation, after: Observation) -> Items:
    """What differs between two pages; bids alone are no difference."""
    old, new = Places(read_tree(before.tree)), Places(read_tree(after.tree))
    pairs = match(old, new)
    if page_kind(before, after, old.tree, new.tree, pairs) in WHOLE_PAGE:
        lines = tuple(_line(n) for n in new.tree)
        return Items(new=lines, whole=True, frame=_frame(before, after))
    stayed = {j for j in pairs if j is not None}
    return Items(
        new=tuple(_line(n) for j, n in enumerate(new.tree) if j not in stayed),
        updated=tuple(
            _line(new.tree[j])
            for i, j in enumerate(pairs)
            if j is not None and _said(old.tree[i]) != _said(new.tree[j])
        ),
        deleted=tuple(_line(n) for n, j in zip(old.tree, pairs, strict=True) if j is None),
        frame=_frame(before, after),
    )


def print_items(items: Items) -> str:
    """Three sections, each with its items one a line, or `None`; what else changed stands before them."""
    if items.whole:
        return "\n".join((*items.frame, "New page:", *items.new))
    lines = list(items.frame)
    for name, held in (("New", items.new), ("Updated", items.updated), ("Deleted", items.deleted)):
        lines += [f"{name} items:", *(held or (NONE,))]
    return "\n".join(lines)


def _line(node: Node) -> str:
    return render_node(node._replace(depth=0))


def _said(node: Node) -> Node:
    return node._replace(depth=0, bid=None)


def _frame(before: Observation, after: Observation) -> tuple[str, ...]:
    told = (
        ("address", before.url, after.url),
        ("title", before.title, after.title),
        ("error", "", after.last_action_error),
    )
    return tuple(f"{name}: {now!r}" for name, was, now in told if was != now)
