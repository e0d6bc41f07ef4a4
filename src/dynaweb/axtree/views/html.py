"""A page as HTML that a browser shows: `read_html(write_html(tree)) == tree` for every tree.

Roles have their tags where HTML has one for them; any other is `<div role="...">`. Bids are `bid`; the name of an element is its content
where nothing stands below it, else `name`. It is markup about the page, not the page's own source: styles and scripts were never in the tree. Read with the standard
library's parser; tags that are not ours are refused, not guessed.
"""

from html import escape
from html.parser import HTMLParser

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

TAGS = {
    "RootWebArea": "body", "link": "a", "button": "button", "listitem": "li", "list": "ul", "table": "table", "row": "tr", "cell": "td",
    "columnheader": "th", "navigation": "nav", "main": "main", "banner": "header", "contentinfo": "footer", "paragraph": "p", "form": "form",
    "article": "article", "LabelText": "label", "combobox": "select", "option": "option", "strong": "strong", "emphasis": "em", "StaticText": "span",
    "heading": "h2", "region": "section", "dialog": "dialog", "code": "code", "blockquote": "blockquote", "time": "time",
}  # fmt: skip
"""One role, one tag; `heading` has its level as an attribute."""
EMPTY_TAGS = {"textbox": "", "checkbox": "checkbox", "radio": "radio", "searchbox": "search", "slider": "range", "spinbutton": "number"}  # fmt: skip
"""Roles that are an `<input>` of this type, where nothing stands below them."""
_ROLES = {tag: role for role, tag in TAGS.items()}
_TYPES = {kind: role for role, kind in EMPTY_TAGS.items()}
TEXT, LINE, INDENT = "StaticText", "_line", "  "


def write_html(tree: Tree) -> str:
    """The page as HTML, one element a line."""
    lines: list[str] = []
    open_tags: list[str] = []
    placed = depths(tree)
    for at, (node, nesting, told) in enumerate(placed):
        while len(open_tags) > nesting:
            lines.append(f"{INDENT * (len(open_tags) - 1)}</{open_tags.pop()}>")
        opens = at + 1 < len(placed) and placed[at + 1][1] > nesting
        tag, attrs = _start(node, told, opens)
        start = f"{INDENT * nesting}<{tag}{attrs}>"
        if opens:
            open_tags.append(tag)
            lines.append(start)
        elif tag == "input":
            lines.append(start)
        else:
            lines.append(f"{start}{escape(spell_text(node.name or ''), quote=False)}</{tag}>")
    while open_tags:
        lines.append(f"{INDENT * (len(open_tags) - 1)}</{open_tags.pop()}>")
    return "\n".join(lines)


def _start(node: Node, told: bool, opens: bool) -> tuple[str, str]:
    """The tag, and its attributes as text."""
    attrs: list[tuple[str, str]] = []
    if node.role in EMPTY_TAGS and not opens:
        tag = "input"
        attrs += [("type", EMPTY_TAGS[node.role])] if EMPTY_TAGS[node.role] else []
    else:
        tag = TAGS.get(node.role, "div")
        attrs += [("role", node.role or LINE)] if tag == "div" else []
    attrs += [] if node.bid is None else [("bid", node.bid)]
    if node.name is not None and (opens or tag == "input" or not node.name):
        attrs.append(("name", spell_text(node.name)))
    attrs += [] if told else [("depth", str(node.depth))]
    return tag, "".join(f' {k}="{escape(v)}"' for k, v in [*attrs, *spell_attrs(node.attrs)])


def read_html(text: str) -> Tree:
    """The page that `write_html` wrote.

    Raises:
        TreeError: an element that is not one of ours, or tags that do not close.
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    if reader.open:
        raise TreeError(f"<{reader.open[-1][0]}> is never closed")
    return tuple(reader.nodes)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes: list[Node] = []
        self.open: list[tuple[str, int, list[str]]] = []
        """Tag, index of its node, and its text so far."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        implied = self.nodes[self.open[-1][1]].depth + 1 if self.open else 0
        name = said.get("name")
        node = Node(
            depth=own_depth(said.get("depth"), implied),
            bid=said.get("bid"),
            role=_role(tag, said),
            name=None if name is None else read_text(name),
            attrs=read_attrs(attrs),
        )
        self.nodes.append(node)
        if tag != "input":
            self.open.append((tag, len(self.nodes) - 1, []))

    def handle_data(self, data: str) -> None:
        if self.open:
            self.open[-1][2].append(data)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1][0] != tag:
            raise TreeError(f"</{tag[:40]}> closes nothing")
        _, at, texts = self.open.pop()
        content = "".join(texts) if at == len(self.nodes) - 1 else ""
        if content:
            node = self.nodes[at]
            self.nodes[at] = Node(node.depth, node.bid, node.role, read_text(content), node.attrs)

    def handle_comment(self, data: str) -> None:
        raise TreeError(f"a page has no comment: {data[:40]!r}")


def _role(tag: str, said: dict[str, str | None]) -> str:
    if tag == "input" and said.get("type", "") in _TYPES:
        return _TYPES[said.get("type") or ""]
    if tag == "div" and said.get("role"):
        role = str(said["role"])
        return "" if role == LINE else role
    if tag in _ROLES:
        return _ROLES[tag]
    raise TreeError(f"<{tag[:40]}> is no element of a page")
