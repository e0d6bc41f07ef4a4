"""What the agent reads: Chromium's accessibility nodes, flattened to the elements that matter.

Pure: plain records in, lines out. Compared with BrowserGym's text (source of the dialect) it drops
InlineTextBox and unnamed wrappers, keeps every element that really reacts to a click (its issues
101 and 112), and keeps the address and the focus out of the text. An element that a person knows by
its looks alone (an icon) is named by what the page's author called it: file, class or id.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dynaweb.axtree.tree import AttrValue, Node
from dynaweb.browser.nodes import NOT_DRAWN, AxNode, BidMap, Drawn

TEXT = "StaticText"
ROOT = "RootWebArea"
NOISE = frozenset({"InlineTextBox", "LineBreak", "ListMarker"})
PLAIN = frozenset({"generic", "none", "presentation"})
PICTURES = frozenset(
    {"image", "img", "graphics-symbol", "graphics-object", "Canvas", "SvgRoot", "graphics-document"}
)
# Their content is shown in their place: text-level semantics and wrappers, always.
TRANSPARENT = frozenset({
    "LabelText", "MenuListPopup", "rowgroup", "LayoutTable", "LayoutTableRow", "LayoutTableCell", "strong",
    "emphasis", "mark", "code", "subscript", "superscript", "insertion", "deletion", "Abbr", "time", "Ruby", "Pre",
})  # fmt: skip
# The same, when they have no name.
GROUPS = frozenset({
    "paragraph", "Section", "list", "form", "complementary", "tablist", "menu", "menubar", "table", "grid", "tree",
    "group", "toolbar", "Legend", "Figcaption", "figure", "DescriptionListDetail", "DescriptionListTerm",
    "DescriptionList", "region", "main", "article", "radiogroup",
})  # fmt: skip
WIDGETS = frozenset({"menu", "menubar", "tablist", "toolbar", "radiogroup", "grid", "tree"})
"""Of these, those that the keyboard moves about in: where one can be focused it says what it is."""
SILENT = PLAIN | TRANSPARENT | GROUPS
# Shown for the text in them, which becomes their name; a lone control inside stands for them.
CELLS = frozenset({"listitem", "cell", "gridcell", "columnheader", "rowheader"})
# These carry their own text in `value`; what Chromium shows below them repeats it.
FIELDS = frozenset(
    {"textbox", "searchbox", "spinbutton", "slider", "ColorWell", "Date", "DateTime", "InputTime"}
)
CONTROLS = FIELDS | {
    "button", "link", "option", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "treeitem", "checkbox",
    "radio", "switch", "combobox", "listbox", "DisclosureTriangle", "ToggleButton", "PopUpButton",
}  # fmt: skip
FLAGS = ("disabled", "required", "readonly", "multiselectable", "multiline")
STATES = ("checked", "pressed")  # true, false or mixed
TOGGLES = frozenset({"checkbox", "radio", "switch"})
"""Often made invisible under a picture of their own, and clicked through their label."""
SEPARATE = frozenset({"dialog", "alertdialog", "tabpanel", "Iframe"})
"""Their text is theirs although their name says the same."""
MAX_NAME_FROM_TEXT = 100
"""Longest text, in characters, that becomes the name of the element around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    role: str
    name: str
    backend: int | None = None
    attrs: tuple[tuple[str, AttrValue], ...] = ()
    inner: tuple["_Item", ...] = ()
    control: bool = False
    """It, or something in it, can be acted on."""


def flatten(
    nodes: Mapping[str, AxNode], root: str, drawn: Mapping[int, Drawn], bids: BidMap
) -> tuple[Node, ...]:
    """Lines of the tree, root first. New elements get their numbers here, in document order.

    Args:
        nodes: accessibility nodes by id.
        root: id of the document's node.
        drawn: how DOM nodes are drawn, by backend id.
        bids: numbers so far; grows.
    """
    labels = {_squash(n.name) for n in nodes.values() if n.role in FIELDS or n.role == "combobox"}
    shown: dict[str, tuple[_Item, ...]] = {}
    for node in reversed(_in_order(nodes, root)):
        inner = tuple(item for child in node.children for item in shown.pop(child, ()))
        here = drawn.get(node.backend, NOT_DRAWN) if node.backend is not None else NOT_DRAWN
        shown[node.node_id] = inner if node.node_id == root else _show(node, here, inner, labels)
    lines = [Node(0, None, nodes[root].role, _squash(nodes[root].name))]
    stack = [(item, 1) for item in reversed(shown[root])]
    while stack:
        item, depth = stack.pop()
        bid = bids.bid(item.backend) if item.backend is not None else None
        lines.append(Node(depth, bid, item.role, item.name, item.attrs))
        stack.extend((child, depth + 1) for child in reversed(item.inner))
    return tuple(lines)


def _in_order(nodes: Mapping[str, AxNode], root: str) -> list[AxNode]:
    found: list[AxNode] = []
    stack = [root]
    seen = {root}
    while stack:
        node = nodes[stack.pop()]
        found.append(node)
        fresh = [c for c in reversed(node.children) if c in nodes and c not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return found


def _squash(text: str) -> str:
    return " ".join(text.split())


def _show(
    node: AxNode, here: Drawn, inner: tuple[_Item, ...], labels: set[str]
) -> tuple[_Item, ...]:
    """What stands for this node: nothing, its content, or one item."""
    if node.role in NOISE or (here.hidden and node.role not in TOGGLES):
        return ()
    if node.role == ROOT or here.off:
        return inner  # a frame's document, or what no scrolling leads to: what is in it may be seen
    if node.role == TEXT:
        text = _squash(node.name)
        return (_Item(role=TEXT, name=text),) if text and not node.ignored else ()
    if here.tag == "LABEL":
        inner = tuple(i for i in inner if i.role != TEXT or i.name not in labels)
        alone = here.reacts and inner and not any(i.control for i in inner)
        return _plain(node, here, inner) if alone else inner
    if node.role in SILENT and _is_typed_in(node):
        return (_rich(node, here, inner),)
    if node.ignored and node.role not in PLAIN:
        return inner
    named_group = node.role in GROUPS and node.name.strip() != ""
    return _plain(node, here, inner) if node.role in SILENT and not named_group else _told(node, here, inner)  # fmt: skip


def _told(node: AxNode, here: Drawn, inner: tuple[_Item, ...]) -> tuple[_Item, ...]:
    """A node that has something to say of itself."""
    if node.role in PICTURES:
        return _picture(node, here, inner)
    if node.role == "row" and inner and all(i.control for i in inner) and not here.reacts:
        return inner
    if node.role in CELLS:
        return _cell(node, here, inner)
    name = _squash(node.name) or _icon_name(node, here, inner)
    return (_item(node, here, node.role, name, inner),)


def _is_typed_in(node: AxNode) -> bool:
    """Whether an element of no such role is a field: `contenteditable`."""
    return bool(node.properties.get("editable")) and node.properties.get("focusable") is True


def _rich(node: AxNode, here: Drawn, inner: tuple[_Item, ...]) -> _Item:
    typed = " ".join(i.name for i in inner if i.role == TEXT)
    filled = replace(node, value=node.value or typed)
    return _item(filled, here, "textbox", _squash(node.name), ())


def _plain(node: AxNode, here: Drawn, inner: tuple[_Item, ...]) -> tuple[_Item, ...]:
    """Its content alone, or a wrapper where a click on it does something."""
    if here.tag in {"BODY", "HTML"} or not (here.reacts or here.tabbable):
        return inner
    text = _text_of(inner)
    if text is not None:
        named = len(text) <= MAX_NAME_FROM_TEXT
        return (
            _item(
                node, here, "generic", (text if named else "") or here.hint, () if named else inner
            ),
        )
    if _stands_for(inner) and not here.tabbable:
        return inner
    role = node.role if node.role in WIDGETS else "generic"
    return (_item(node, here, role, "", inner),)


def _picture(node: AxNode, here: Drawn, inner: tuple[_Item, ...]) -> tuple[_Item, ...]:
    name = _squash(node.name)
    if not name and (not here.reacts or _stands_for(inner)):
        return inner
    text = _text_of(inner)
    return (
        _item(node, here, node.role, name or text or here.hint, () if text is not None else inner),
    )


def _cell(node: AxNode, here: Drawn, inner: tuple[_Item, ...]) -> tuple[_Item, ...]:
    if inner and all(i.control for i in inner):
        return inner
    text = _text_of(inner)
    name = _squash(node.name) or text or ("" if inner else here.hint)
    if text is not None and len(name) <= MAX_NAME_FROM_TEXT:
        keep = bool(name) or here.reacts or node.role != "listitem"
        return (_item(node, here, node.role, name, ()),) if keep else ()
    return (_item(node, here, node.role, "", inner),)


def _text_of(inner: tuple[_Item, ...]) -> str | None:
    """The text inside, if there is nothing but text inside; None otherwise."""
    return " ".join(i.name for i in inner) if all(i.role == TEXT for i in inner) else None


def _stands_for(inner: tuple[_Item, ...]) -> bool:
    """Everything inside can be addressed by itself, so the wrapper adds nothing."""
    return any(i.control for i in inner) and all(i.role != TEXT for i in inner)


def _icon_name(node: AxNode, here: Drawn, inner: tuple[_Item, ...]) -> str:
    return (
        here.hint
        if node.role in CONTROLS - FIELDS and not inner and node.role != "combobox"
        else ""
    )


def _item(node: AxNode, here: Drawn, role: str, name: str, inner: tuple[_Item, ...]) -> _Item:
    acts = role in CONTROLS
    clickable = not acts and (here.reacts or here.tabbable)
    # Text that the name says already.
    kept = () if role in FIELDS else tuple(i for i in inner if not _repeats(i, role, name))
    attrs = _attributes(node, here, role)
    if clickable:
        attrs.append(("clickable", None))
    control = acts or clickable or any(i.control for i in kept)
    return _Item(
        role=role, name=name, backend=node.backend, attrs=tuple(attrs), inner=kept, control=control
    )


def _repeats(item: _Item, role: str, name: str) -> bool:
    return item.role == TEXT and item.name in name and role not in SEPARATE


def _attributes(node: AxNode, here: Drawn, role: str) -> list[tuple[str, AttrValue]]:
    found: list[tuple[str, AttrValue]] = []
    properties = node.properties
    value = here.value if here.value is not None and role in FIELDS else node.value
    if value:
        found.append(("value", value))
    found.extend((key, str(properties[key]).lower()) for key in STATES if key in properties)
    if properties.get("selected") is True:
        found.append(("selected", "true"))
    # A tab that is selected is expanded, and a closed list never says otherwise.
    if (
        "expanded" in properties
        and here.tag != "SELECT"
        and not (role == "tab" and "selected" in properties)
    ):
        found.append(("expanded", str(properties["expanded"]).lower()))
    low, high = properties.get("valuemin"), properties.get("valuemax")
    if isinstance(low, float) and isinstance(high, float) and low < high:
        found.extend((("valuemin", _number(low)), ("valuemax", _number(high))))
    found.extend((flag, None) for flag in FLAGS if properties.get(flag) is True)
    return found


def _number(value: float) -> AttrValue:
    return int(value) if value.is_integer() else value
