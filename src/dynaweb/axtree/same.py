"""Whether two pages are the same up to renumbering: what counts as an exact prediction."""

from dataclasses import replace

from dynaweb.axtree.tree import Node, Tree, read_tree, render_tree
from dynaweb.records.observation import Observation


def same_page(one: Observation, other: Observation) -> bool:
    """Equal after bids are counted in order of appearance; attachments are not compared."""
    return canonical(one) == canonical(other)


def same_tree(one: str, other: str) -> bool:
    """The same for trees alone."""
    a, b = read_tree(one), read_tree(other)
    return render_tree(_counted(a)[0]) == render_tree(_counted(b)[0])


def canonical(observation: Observation) -> Observation:
    """The page with bids counted in order of first appearance, from 1."""
    tree, names = _counted(read_tree(observation.tree))
    focused = observation.focused
    return replace(
        observation,
        tree=render_tree(tree),
        focused=names.get(focused, f"not shown: {focused}") if focused is not None else None,
        attachments={},
    )


def _counted(tree: Tree) -> tuple[Tree, dict[str, str]]:
    names: dict[str, str] = {}
    for node in tree:
        if node.bid is not None:
            names.setdefault(node.bid, str(len(names) + 1))
    counted = [
        n if n.bid is None else Node(n.depth, names[n.bid], n.role, n.name, n.attrs) for n in tree
    ]
    return tuple(counted), names
