"""What the agent reads: Chromium's accessibility nodes, flattened to the elements that matter.

Pure: plain records in, lines out. Compared with BrowserGym's text (source of the dialect) it drops
InlineTextBox and unnamed wrappers, keeps every element that really reacts to a click, and keeps
the address and the focus out of the text. BrowserGym ignores the first two (its issues 101, 112).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dynaweb.axtree.tree import AttrValue, Node

TEXT = frozenset({"StaticText"})
NOISE = frozenset({"InlineTextBox", "LineBreak", "ListMarker"})
PLAIN = frozenset({"generic", "none", "presentation"})
# Wrappers and inline styles: their content is shown in their place, unless they react to a click.
TRANSPARENT = PLAIN | frozenset({
    "LabelText", "paragraph", "MenuListPopup", "Section", "rowgroup", "Legend", "Figcaption",
    "LayoutTable", "LayoutTableRow", "LayoutTableCell", "SvgRoot", "graphics-symbol", "graphics-object",
    "graphics-document", "Canvas", "image", "img", "strong", "emphasis", "mark", "code", "subscript",
    "superscript", "insertion", "deletion", "Abbr", "time", "Ruby", "DescriptionListDetail", "Pre",
})  # fmt: skip
# These carry their own text in `value`; what Chromium shows below them repeats it.
FIELDS = frozenset(
    {"textbox", "searchbox", "spinbutton", "slider", "ColorWell", "Date", "DateTime", "InputTime"}
)
# Roles whose name is made of their content, so that the text below repeats it.
NAMED_BY_CONTENT = frozenset({
    "button", "link", "heading", "cell", "gridcell", "columnheader", "rowheader", "option", "tab", "menuitem",
    "menuitemcheckbox", "menuitemradio", "treeitem", "checkbox", "radio", "switch", "tooltip", "DisclosureTriangle",
    "generic",
})  # fmt: skip
NATIVE = (
    NAMED_BY_CONTENT - {"generic"} - {"cell", "columnheader", "rowheader", "heading", "tooltip"}
)
INTERACTIVE = NATIVE | FIELDS | {"combobox", "listbox"}
FLAGS = ("disabled", "required", "readonly", "multiselectable")
STATES = ("checked", "pressed")
RANGES = ("valuemin", "valuemax")


@dataclass(frozen=True, slots=True, kw_only=True)
class AxNode:
    """One node of Chromium's accessibility tree, the parts that are used."""

    node_id: str
    role: str
    name: str
    value: str
    ignored: bool
    backend: int | None
    """Backend DOM node id: names the DOM node for its life, outside the page."""
    properties: Mapping[str, str | bool | float]
    children: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """How a DOM node is drawn and what listens on it."""

    tag: str
    pointer: bool = False
    """The cursor becomes a hand here and does not over the parent."""
    listener: bool = False
    """A mouse listener sits on the node itself."""
    hidden: bool = False
    """Takes no visible space: at most one pixel, clipped."""


@dataclass(slots=True)
class BidMap:
    """Numbers for DOM nodes: in document order at first sight, kept for the node's life."""

    _bid_of: dict[int, str] = field(default_factory=dict)
    _backend_of: dict[str, int] = field(default_factory=dict)

    def bid(self, backend: int) -> str:
        """The node's number, a new one at first sight."""
        known = self._bid_of.get(backend)
        if known is None:
            known = str(len(self._bid_of) + 1)
            self._bid_of[backend] = known
            self._backend_of[known] = backend
        return known

    def known(self, backend: int) -> str | None:
        """The node's number if it has one."""
        return self._bid_of.get(backend)

    def backend(self, bid: str) -> int | None:
        """The DOM node with this number."""
        return self._backend_of.get(bid)


def flatten(
    nodes: Mapping[str, AxNode], root: str, drawn: Mapping[int, Drawn], bids: BidMap
) -> tuple[Node, ...]:
    """Lines of the tree, root first. New elements get their numbers here, in document order."""
    top = nodes[root]
    lines = [Node(depth=0, bid=None, role=top.role, name=" ".join(top.name.split()), attrs=())]
    stack = [(child, 1, "", False) for child in reversed(top.children)]
    while stack:
        node_id, depth, above, selecting = stack.pop()
        node = nodes.get(node_id)
        if node is None or node.role in NOISE:
            continue
        here = drawn.get(node.backend) if node.backend is not None else None
        if here is not None and here.hidden:
            continue
        if node.role in TEXT:
            text = " ".join(node.name.split())
            if text and not node.ignored and text not in above:
                lines.append(Node(depth=depth, bid=None, role="StaticText", name=text, attrs=()))
            continue
        kept, below, below_selecting = depth, above, selecting
        inner = node.children
        if _shown(node, here):
            line = _line(node, here, nodes, drawn, depth, bids)
            lines.append(line)
            kept = depth + 1
            below = (line.name or "") if line.role in NAMED_BY_CONTENT else ""
            below_selecting = line.role in {"combobox", "listbox"}
            if line.role in FIELDS:
                inner = ()
        stack.extend((child, kept, below, below_selecting) for child in reversed(inner))
    return tuple(lines)


def _reacts(here: Drawn | None) -> bool:
    return (
        here is not None
        and (here.pointer or here.listener)
        and here.tag not in {"BODY", "HTML", "OPTION"}
    )


def _editable(node: AxNode) -> bool:
    return node.properties.get("editable") == "richtext" and bool(node.properties.get("focusable"))


def _shown(node: AxNode, here: Drawn | None) -> bool:
    if node.ignored:
        return node.role in PLAIN and _reacts(here) and not node.properties.get("hidden")
    if node.role in TRANSPARENT:
        named = node.role not in PLAIN | {"LabelText", "paragraph"} and bool(node.name.strip())
        return named or _reacts(here) or _editable(node)
    return True


def _line(
    node: AxNode,
    here: Drawn | None,
    nodes: Mapping[str, AxNode],
    drawn: Mapping[int, Drawn],
    depth: int,
    bids: BidMap,
) -> Node:
    role = "textbox" if _editable(node) else "generic" if node.role in PLAIN else node.role
    name = " ".join(node.name.split())
    if not name and role in TRANSPARENT:
        name = _text_below(node, nodes, drawn)
    bid = bids.bid(node.backend) if node.backend is not None else None
    return Node(
        depth=depth, bid=bid, role=role, name=name, attrs=tuple(_attributes(node, role, here))
    )


def _attributes(node: AxNode, role: str, here: Drawn | None) -> list[tuple[str, AttrValue]]:
    found: list[tuple[str, AttrValue]] = []
    properties = node.properties
    if node.value:
        found.append(("value", node.value))
    found.extend((key, str(properties[key])) for key in STATES if key in properties)
    if properties.get("selected") is True:
        found.append(("selected", "true"))
    select = role == "combobox" and here is not None and here.tag == "SELECT"
    if "expanded" in properties and not select:
        found.append(("expanded", str(properties["expanded"]).lower()))
    found.extend((key, _number(properties[key])) for key in RANGES if key in properties)
    found.extend((flag, None) for flag in FLAGS if properties.get(flag) is True)
    if role not in INTERACTIVE and _reacts(here):
        found.append(("clickable", None))
    return found


def _number(value: str | bool | float) -> AttrValue:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _text_below(node: AxNode, nodes: Mapping[str, AxNode], drawn: Mapping[int, Drawn]) -> str:
    """The text inside, if there is nothing but text inside; else empty."""
    words: list[str] = []
    stack = list(reversed(node.children))
    while stack:
        inner = nodes.get(stack.pop())
        if inner is None or inner.role in NOISE:
            continue
        if inner.role in TEXT:
            words.extend(() if inner.ignored else inner.name.split())
            continue
        if _shown(inner, drawn.get(inner.backend) if inner.backend is not None else None):
            return ""
        stack.extend(reversed(inner.children))
    return " ".join(words)
