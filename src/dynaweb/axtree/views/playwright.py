"""A page as Playwright's aria snapshot with refs: `- button "Go" [disabled] [ref=13]`.

The form has no words for values that are not text, so a state `checked='true'` is written `[checked=true]` and reads back as Playwright's own
boolean. What comes back exactly: order, roles, names, refs, and depths where lines skip no level (`dialects.read.read_document`).
"""

from dynaweb.axtree.dialects.aria import TEXT, mark_aria, write_aria
from dynaweb.axtree.tree import Node, Tree
from dynaweb.axtree.views.spelling import depths

INDENT = "  "


def write_playwright(tree: Tree) -> str:
    """The page as an aria snapshot."""
    placed = depths(tree)
    lines: list[str] = []
    for at, (node, nesting, _) in enumerate(placed):
        opens = at + 1 < len(placed) and placed[at + 1][1] > nesting
        line = _aria(node, opens)
        lines.append(INDENT * nesting + write_aria(line) + (mark_aria(line) if opens else ""))
    return "\n".join(lines)


def _aria(node: Node, opens: bool) -> Node:
    is_text = node.role in ("StaticText", "") and not opens and node.bid is None and not node.attrs
    if is_text:
        return node._replace(role=TEXT, name=node.name or "")
    attrs = tuple((k, v) for k, v in node.attrs if k not in ("value", TEXT) or not opens)
    return node._replace(role=node.role or "generic", attrs=attrs)
