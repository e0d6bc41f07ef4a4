"""A page as XML: an element for each line, its role the tag. `read_xml(write_xml(tree)) == tree` for every tree.

    <page>
      <RootWebArea name="Shop">
        <button bid="13" name="Go" disabled="disabled"/>
        <StaticText name="x"/>

A line that no dialect explains is `<_line name="..."/>`. Read with the standard library's expat, which expands no external
entities; documents with a DTD are refused.
"""

from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from dynaweb.axtree.tree import Node, Tree
from dynaweb.axtree.views.spelling import (
    depths,
    own_depth,
    read_attrs,
    read_text,
    spell_attrs,
    spell_text,
)
from dynaweb.errors import TreeError

PAGE, LINE = "page", "_line"
INDENT = "  "


def write_xml(tree: Tree) -> str:
    """The page as an XML document."""
    lines = [f"<{PAGE}>"]
    open_tags: list[str] = []
    placed = depths(tree)
    for at, (node, nesting, told) in enumerate(placed):
        while len(open_tags) > nesting:
            lines.append(f"{INDENT * len(open_tags)}</{open_tags.pop()}>")
        tag = node.role or LINE
        opens = at + 1 < len(placed) and placed[at + 1][1] > nesting
        attrs = "".join(f" {k}={quoteattr(v)}" for k, v in _attributes(node, told))
        lines.append(f"{INDENT * (nesting + 1)}<{tag}{attrs}{'>' if opens else '/>'}")
        if opens:
            open_tags.append(tag)
    while open_tags:
        lines.append(f"{INDENT * len(open_tags)}</{open_tags.pop()}>")
    return "\n".join([*lines, f"</{PAGE}>"])


def _attributes(node: Node, told: bool) -> list[tuple[str, str]]:
    made = [] if node.bid is None else [("bid", node.bid)]
    made += [] if node.name is None else [("name", spell_text(node.name))]
    made += [] if told else [("depth", str(node.depth))]
    return made + spell_attrs(node.attrs)


def read_xml(text: str) -> Tree:
    """The page that `write_xml` wrote.

    Raises:
        TreeError: no XML, or XML that is no page.
    """
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise TreeError("a page has no DOCTYPE: entities are not read")
    try:
        page = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise TreeError(f"not XML: {error}") from error
    if page.tag != PAGE:
        raise TreeError(f"expected <{PAGE}>, found <{page.tag[:40]}>")
    nodes: list[Node] = []
    waiting = [(child, 0) for child in reversed(page)]
    while waiting:
        element, implied = waiting.pop()
        node = _node(element, implied)
        nodes.append(node)
        waiting += [(child, node.depth + 1) for child in reversed(element)]
    return tuple(nodes)


def _node(element: ElementTree.Element, implied: int) -> Node:
    said = element.attrib
    name = said.get("name")
    return Node(
        depth=own_depth(said.get("depth"), implied),
        bid=said.get("bid"),
        role="" if element.tag == LINE else element.tag,
        name=None if name is None else read_text(name),
        attrs=read_attrs(list(said.items())),
    )
