"""A tree of any dialect in this project's own terms, for everything downstream: matching, Δ, models.

What changes: Playwright's text lines become `StaticText`, an element's own text an element below it,
`/url` an attribute of its link, and tag names that stand in place of roles (`BUTTON`) the roles that such elements have; an `INPUT`
stays one, since nothing says of which type. Lines that are no element stay as they are. Ids are kept.
"""

from dynaweb.axtree.dialects.aria import TEXT
from dynaweb.axtree.dialects.document import Dialect, Document
from dynaweb.axtree.dialects.roles import TAG_ROLES
from dynaweb.axtree.tree import KEY, Attrs, AttrValue, Node, Tree

_STATIC = "StaticText"
_TAGGED = frozenset({Dialect.TAGROLE, Dialect.MARKS, Dialect.LABELS})
"""Dialects that name tags."""


def common_tree(document: Document) -> Tree:
    """The elements as this project has them.

    `read_tree(render_tree(tree)) == tree` holds where every line of the document is an element.
    """
    nodes: list[Node] = []
    above: list[int] = []
    for node in document.nodes:
        while above and node.role and nodes[above[-1]].depth >= node.depth:
            above.pop()
        if node.role.startswith("/"):
            if above:
                owner = nodes[above[-1]]
                attrs = _once((*owner.attrs, (node.role[1:], node.name)))
                nodes[above[-1]] = owner._replace(attrs=attrs)
            continue
        text = node.attr(TEXT)
        if node.role:
            above.append(len(nodes))
        nodes.append(_plain(node, tags=document.dialect in _TAGGED))
        if text is not None:
            nodes.append(Node(node.depth + 1, None, _STATIC, str(text)))
    return tuple(nodes)


def _plain(node: Node, *, tags: bool) -> Node:
    if not node.role:
        # a line of its own, whatever stands in it
        line = (node.name or "").replace("\n", " ")
        body = line.lstrip("\t")
        return Node(len(line) - len(body), None, "", body)
    role = _STATIC if node.role == TEXT else node.role
    if tags:
        role = TAG_ROLES.get(role.lower(), role)
    if not node.attrs and role == node.role:
        return node
    attrs = _once(tuple([(k, v) for k, v in node.attrs if k != TEXT]))
    return Node(node.depth, node.bid, role, node.name, attrs)


def _once(attrs: Attrs) -> Attrs:
    """Every key once, the first value counts; keys that our dialect cannot write are left out."""
    found: dict[str, AttrValue] = {}
    for key, value in attrs:
        if KEY.fullmatch(key):
            found.setdefault(key, value)
    return tuple(found.items())
