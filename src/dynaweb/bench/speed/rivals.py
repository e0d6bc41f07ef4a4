"""The same pairs through what else a user would reach for: `difflib`, and tree edit distance by `apted` or `zss`.

None of them writes what a world model has to write: `difflib` knows no tree, and the two distances give
operations on nodes, not a text. So sizes are compared in operations, and in characters with `difflib` alone.
Tree edit distance takes more than quadratic time, so only pairs of small pages are given to it.
"""

import difflib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from dynaweb.axtree.diff import diff
from dynaweb.axtree.place import Places
from dynaweb.axtree.text import print_delta
from dynaweb.axtree.tree import Tree, read_tree
from dynaweb.bench.speed.measure import timed
from dynaweb.bench.speed.spread import Estimate, estimate
from dynaweb.errors import MissingDependencyError
from dynaweb.records.delta import Delta
from dynaweb.records.trajectory import Transition

RIVALS = ("difflib", "apted", "zss")
INSTALL = "pip install 'dynaweb[bench]'"
MAX_TREE_LINES = 300
"""A pair with a longer page is not given to a tree edit distance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivalry:
    """One alternative beside this project's diff, on the same pairs."""

    rival: str
    pairs: int
    ours_ms: float
    """Median."""
    theirs_ms: float
    """Median."""
    times: Estimate
    """Their time by ours, pair by pair; the median."""
    ours_operations: float
    """Median number of elements that the change names."""
    theirs_operations: float
    """Median number of lines that go and come, or of nodes deleted, inserted and renamed."""
    ours_characters: float
    theirs_characters: float | None
    """Of the edit script as text; None where the alternative writes none."""


@dataclass(frozen=True, slots=True)
class Script:
    """What an alternative says of a pair."""

    operations: int
    characters: int | None


def compare(rival: str, pairs: Sequence[Transition]) -> Rivalry | None:
    """One alternative on all pairs that it can be given; None where there is none.

    Raises:
        MissingDependencyError: it is not installed.
    """
    if rival != "difflib" and importlib.util.find_spec(rival) is None:
        raise MissingDependencyError(f"needs the package {rival!r}: {INSTALL}")
    run = {"difflib": _difflib, "apted": _apted, "zss": _zss}[rival]
    ours: list[float] = []
    theirs: list[float] = []
    deltas: list[Delta] = []
    scripts: list[Script] = []
    for t in pairs:
        old, new = t.observation.tree, t.next_observation.tree
        if rival != "difflib" and max(old.count("\n"), new.count("\n")) >= MAX_TREE_LINES:
            continue
        ms, script = timed(run, old, new)
        theirs.append(ms)
        scripts.append(script)
        ms, delta = timed(diff, t.observation, t.action, t.next_observation)
        ours.append(ms)
        deltas.append(delta)
    if not ours:
        return None
    lengths = [s.characters for s in scripts if s.characters is not None]
    return Rivalry(
        rival=rival,
        pairs=len(ours),
        ours_ms=median(ours),
        theirs_ms=median(theirs),
        times=estimate([b / a for a, b in zip(ours, theirs, strict=True)], median),
        ours_operations=median(map(_operations, deltas)),
        theirs_operations=median(s.operations for s in scripts),
        ours_characters=median(len(print_delta(d)) for d in deltas),
        theirs_characters=median(lengths) if lengths else None,
    )


def _operations(delta: Delta) -> int:
    placed = sum(len(p.items) for p in delta.placed)
    return len(delta.updated) + len(delta.deleted) + placed + len(delta.shifted)


def _difflib(old: str, new: str) -> Script:
    """Line by line, as `diff -U0` writes it."""
    said = list(difflib.unified_diff(old.split("\n"), new.split("\n"), n=0, lineterm=""))
    edits = [line for line in said[2:] if not line.startswith("@@")]
    return Script(len(edits), sum(len(line) + 1 for line in said))


def _apted(old: str, new: str) -> Script:
    import apted  # noqa: PLC0415 - an extra
    from apted.helpers import Tree as Rose  # noqa: PLC0415 - an extra

    def rose(tree: Tree) -> object:
        return _nested(tree, lambda label, below: Rose(label, *below))

    found = apted.APTED(rose(read_tree(old)), rose(read_tree(new)), apted.Config())
    return Script(int(found.compute_edit_distance()), None)


def _zss(old: str, new: str) -> Script:
    import zss  # noqa: PLC0415 - an extra

    def rose(tree: Tree) -> object:
        return _nested(tree, lambda label, below: zss.Node(label, list(below)))

    return Script(int(zss.simple_distance(rose(read_tree(old)), rose(read_tree(new)))), None)


def _nested(tree: Tree, make: Callable[[str, Sequence[object]], object]) -> object:
    """The tree as nested nodes, children first; a label is all that a line says, bid apart."""
    above = Places(tree).parents
    below: list[list[object]] = [[] for _ in range(len(tree) + 1)]
    for at in range(len(tree) - 1, -1, -1):
        node = tree[at]
        made = make(repr((node.role, node.name, node.attrs)), below[at][::-1])
        below[above[at]].append(made)
    return make("page", below[-1][::-1])
