"""Made-up pages to measure on, the same on every machine: a page of any size, its next page, its text in any dialect.

Shaped after real recordings (the public WebArena traces): about 34 characters a line, half of the lines
with a bid, most changes local (a state, a text, rows that go or come), some another page.
"""

import random
from collections.abc import Iterator
from enum import StrEnum

from dynaweb.axtree.dialects.document import Dialect, Document, Layout
from dynaweb.axtree.dialects.read import render_document
from dynaweb.axtree.tree import Attrs, Node, Tree, render_tree
from dynaweb.records.action import Click
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Transition

ROW_LINES = 7
"""Lines of one row of a page's table."""

HEAD_LINES = 3
"""Lines above the first row."""

_TEXT = """
account address blue bottle cart category checkout cotton customer delivery discount edit email filter
fitness grey helmet invoice item jacket large ladder medium message newest order pack page payment price
product quantity rating refund report review sale search shipping shoe size small status stock store
subscribe summary tablet total update view watch weekly wireless yellow
"""

_WORDS = _TEXT.split()


class Change(StrEnum):
    """What happens between a page and the next."""

    STATE = "state"
    """A checkbox is checked."""
    TEXT = "text"
    """A text and a price are others."""
    LESS = "less"
    """A row is gone."""
    MORE = "more"
    """Three rows are new, in the middle."""
    SORTED = "sorted"
    """A row stands somewhere else."""
    OTHER = "other"
    """Another page."""


LOCAL = tuple(kind for kind in Change if kind is not Change.OTHER)


def made_page(lines: int, seed: int) -> Tree:
    """A page of about so many lines."""
    rng = random.Random(seed)
    rows = [_row(rng, 10 + 5 * r) for r in range(max(1, (lines - HEAD_LINES) // ROW_LINES))]
    return _page(rng, rows)


def made_pair(lines: int, seed: int, change: Change) -> Transition:
    """A page of about so many lines, a click on it, and the next page."""
    rng = random.Random(seed)
    count = max(4, (lines - HEAD_LINES) // ROW_LINES)
    rows = [_row(rng, 10 + 5 * r) for r in range(count)]
    old = _page(rng, rows)
    at = rng.randrange(1, count - 1)
    return Transition(
        observation=_observed(old, "http://shop.example/list"),
        action=Click(str(10 + 5 * at)),
        next_observation=_next_page(old, rows, at, change, rng),
    )


def made_pairs(lines: int, count: int, seed: int) -> Iterator[Transition]:
    """Pairs of all kinds in turn."""
    kinds = list(Change)
    for number in range(count):
        yield made_pair(lines, seed + number, kinds[number % len(kinds)])


def _next_page(
    old: Tree, rows: list[list[Node]], at: int, change: Change, rng: random.Random
) -> Observation:
    if change is Change.OTHER:
        other = _page(rng, [_row(rng, 10 + 5 * (len(rows) + r)) for r in range(len(rows))])
        return _observed(other, "http://shop.example/other")
    rows = list(rows)
    if change is Change.STATE:
        rows[at] = [n._replace(attrs=_checked(n.attrs)) for n in rows[at]]
    elif change is Change.TEXT:
        rows[at] = [
            n._replace(name=_words(rng, 5)) if n.bid is None and n.name else n for n in rows[at]
        ]
    elif change is Change.LESS:
        del rows[at]
    elif change is Change.MORE:
        rows[at:at] = [_row(rng, 10 + 5 * (len(rows) + r)) for r in range(3)]
    else:
        rows.insert(len(rows) - 1, rows.pop(at))
    below = [node for row in rows for node in row]
    return _observed((*old[:HEAD_LINES], *below), "http://shop.example/list")


def _observed(tree: Tree, url: str) -> Observation:
    return Observation(url=url, title=tree[0].name or "", tree=render_tree(tree))


def _page(rng: random.Random, rows: list[list[Node]]) -> Tree:
    title = _words(rng, 3)
    head = (
        Node(0, "1", "RootWebArea", title, (("focused", None),)),
        Node(1, "2", "heading", title, (("level", 1),)),
        Node(1, "3", "table", ""),
    )
    return (*head, *(node for row in rows for node in row))


def _row(rng: random.Random, bid: int) -> list[Node]:
    name = _words(rng, 4)
    return [
        Node(2, str(bid), "row", name),
        Node(3, str(bid + 1), "checkbox", f"Choose {name}", (("checked", "false"),)),
        Node(3, str(bid + 2), "link", name, (("clickable", None),)),
        Node(4, None, "StaticText", name),
        Node(3, None, "StaticText", f"${rng.randrange(1, 999)}.{rng.randrange(100):02}"),
        Node(3, str(bid + 3), "textbox", "Quantity", (("value", str(rng.randrange(9))),)),
        Node(3, str(bid + 4), "button", "Add to cart", (("clickable", None),)),
    ]


def _checked(attrs: Attrs) -> Attrs:
    return tuple((k, "true" if k == "checked" else v) for k, v in attrs)


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(_WORDS, k=count)).capitalize()


def spell(tree: Tree, dialect: Dialect) -> str:
    """A made page's text in a dialect; what the dialect cannot say is left out."""
    if dialect in (Dialect.WEBARENA, Dialect.TAGROLE):
        # WebArena numbers every line
        tree = tuple([node._replace(bid=str(at + 1)) for at, node in enumerate(tree)])
    nodes = tuple([_in(dialect, node) for node in tree])
    indent = "  " if dialect in (Dialect.ARIA, Dialect.ARIA_REF) else "\t"
    return render_document(
        Document(dialect=dialect, nodes=nodes, lines=(), layout=Layout(indent=indent))
    )


def _in(dialect: Dialect, node: Node) -> Node:
    match dialect:
        case Dialect.TAGROLE if node.depth and node.role != "StaticText":
            return node._replace(role=node.role.upper(), attrs=())
        case Dialect.MARKS:
            return Node(0, node.bid, node.role.upper() if node.bid else node.role, node.name or "")
        case Dialect.LABELS:
            role = "button" if node.role == "button" else "generic"
            return Node(0, node.bid or "0", role, node.name)
        case Dialect.ARIA:
            return node._replace(bid=None, attrs=_aria(node.attrs))
        case Dialect.ARIA_REF:
            return node._replace(attrs=_aria(node.attrs))
        case Dialect.WEBARENA | Dialect.TAGROLE:
            return node._replace(attrs=tuple((k, True if v is None else v) for k, v in node.attrs))
        case Dialect.UNQUOTED if node.role == "StaticText":
            return node._replace(bid=None)
        case _:
            return node


def _aria(attrs: Attrs) -> Attrs:
    """States as Playwright shows them: `[checked]`, `[level=1]`, `: typed text`."""
    return tuple(
        (k, None if v == "true" else v) for k, v in attrs if v != "false" and k != "clickable"
    )
