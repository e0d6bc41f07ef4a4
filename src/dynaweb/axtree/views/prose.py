"""A page in plain English, element by element, as a screen reader would tell it (WebWorld's Web2NAL). One way only.

Nothing is judged or summed up: the text says what the tree says, so that a model's description can be checked against it.
"""

from dynaweb.axtree.tree import Node, Tree

_CALLED = {
    "RootWebArea": "page", "StaticText": "text", "textbox": "text field", "searchbox": "search field", "combobox": "drop-down list", "spinbutton": "number field",
    "listitem": "list item", "columnheader": "column header", "rowheader": "row header", "menuitem": "menu item", "LabelText": "label", "contentinfo": "page footer",
    "banner": "page header", "tabpanel": "tab panel", "radio": "radio button", "generic": "element",
}  # fmt: skip
_SAID = {"True": "true", "False": "false"}
SILENT = frozenset({"generic", "none", "rowgroup", "group", "paragraph"})
"""Roles that are left out when they have neither name, state nor bid."""


def write_prose(tree: Tree) -> str:
    """The page as sentences, one a line."""
    lines: list[str] = []
    above: list[Node] = []
    for node in tree:
        while above and above[-1].depth >= node.depth:
            above.pop()
        if node.role not in SILENT or node.name or node.attrs or node.bid is not None:
            lines.append(_sentence(node, above))
        above.append(node)
    return "\n".join(lines)


def _sentence(node: Node, above: list[Node]) -> str:
    if not node.role:
        return f"There is a line {node.name or ''!r}."
    called = _CALLED.get(node.role, node.role)
    name = f" named {node.name!r}" if node.name else ""
    if node.role == "StaticText":
        name = f" {node.name or ''!r}"
    bid = f" with id {node.bid}" if node.bid is not None else ""
    states = [_state(k, v) for k, v in node.attrs]
    having = f", {', '.join(states)}" if states else ""
    inside = next((n for n in reversed(above) if n.name and n.role != "RootWebArea"), None)
    where = (
        f" in the {_CALLED.get(inside.role, inside.role)} {inside.name!r}"
        if inside is not None
        else ""
    )
    article = "The" if node.role == "RootWebArea" else "An" if called[0].lower() in "aeiou" else "A"
    return f"{article} {called}{name}{bid}{where}{having}."


def _state(key: str, value: object) -> str:
    if value is None or value == "true" or value is True:
        return key
    if value == "false" or value is False:
        return f"not {key}"
    return f"{key} {value!r}"
