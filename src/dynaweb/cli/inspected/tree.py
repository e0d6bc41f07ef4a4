"""`dynaweb inspect` on an accessibility tree: its dialect, what is odd about it, and the tree in one form."""

from dynaweb.axtree.dialects.common import common_tree
from dynaweb.axtree.dialects.document import Document, repeated_bids
from dynaweb.axtree.dialects.read import render_document
from dynaweb.axtree.tree import render_tree
from dynaweb.cli.saying import indented

MAX_SHOWN = 20
"""Odd lines that are printed one by one; `--json` has them all."""


def tree_facts(document: Document, text: str) -> dict[str, object]:
    """What there is to say about a tree, ready for JSON."""
    nodes = [n for n in document.nodes if n.role]
    return {
        "kind": "tree",
        "dialect": document.dialect.value,
        "characters": len(text),
        "lines": text.count("\n") + (not text.endswith("\n")),
        "elements": len(nodes),
        "ids": sum(1 for n in nodes if n.bid is not None),
        "depth": max((n.depth for n in nodes), default=0),
        "tabs": [{"title": t.title, "url": t.url} for t in document.tabs],
        "active_tab": document.active_tab,
        "exact": render_document(document) == text,
        "odd": [
            {"line": o.line, "kind": o.kind.value, "text": o.text, "reason": o.reason}
            for o in document.oddities
        ],
        "repeated_ids": {bid: list(lines) for bid, lines in repeated_bids(document).items()},
        "tree": render_tree(common_tree(document)),
    }


def tree_summary(document: Document, facts: dict[str, object]) -> list[str]:
    """The same for people, a line each, and the tree below."""
    said = [
        f"tree      {facts['dialect']}, {facts['characters']} characters in {facts['lines']} lines",
        f"elements  {facts['elements']}, {facts['ids']} with an id, {facts['depth']} levels below the first",
        f"written   {'back in its own dialect it is the same, byte for byte' if facts['exact'] else 'back it is NOT the same: please report this file'}",
    ]
    for number, tab in enumerate(document.tabs):
        active = " (active)" if number == document.active_tab else ""
        said.append(f"tab {number}{active}  {tab.title} {tab.url}".rstrip())
    odd = [
        f"odd       line {o.line}, {o.kind.value}: {o.text!r}: {o.reason}"
        for o in document.oddities
    ]
    odd += [
        f"odd       id {bid!r} stands on {len(lines)} lines: {', '.join(map(str, lines[:MAX_SHOWN]))}"
        for bid, lines in repeated_bids(document).items()
    ]
    more = [f"odd       and {len(odd) - MAX_SHOWN} more (--json)"] if len(odd) > MAX_SHOWN else []
    printed = [indented(line) for line in str(facts["tree"]).split("\n")]
    return [*said, *odd[:MAX_SHOWN], *more, "", *printed]
