"""HTML as an accessibility tree, as far as markup tells it: roles, names, values and states; bids from `backend_node_id`.

Roles follow the W3C's HTML-AAM for the elements that matter to an agent; what scripts and styles would hide is not known here.
"""

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from dynaweb.axtree.tree import AttrValue, Node, render_tree

ROLES = {
    "a": "link", "button": "button", "input": "textbox", "textarea": "textbox", "select": "combobox", "option": "option", "img": "image",
    "ul": "list", "ol": "list", "li": "listitem", "table": "table", "tr": "row", "td": "cell", "th": "columnheader", "form": "form",
    "nav": "navigation", "main": "main", "header": "banner", "footer": "contentinfo", "section": "region", "article": "article", "p": "paragraph",
    "label": "LabelText", "dialog": "dialog", "iframe": "Iframe", "svg": "image", "summary": "button", "details": "group", "fieldset": "group",
    **{f"h{i}": "heading" for i in range(1, 7)},
}  # fmt: skip
INPUTS = {
    "checkbox": "checkbox", "radio": "radio", "submit": "button", "button": "button", "reset": "button", "image": "button",
    "range": "slider", "number": "spinbutton", "search": "searchbox", "file": "button",
}  # fmt: skip
NAMED_BY_CONTENT = frozenset({"link", "button", "option", "heading", "tab", "menuitem", "columnheader", "LabelText"})  # fmt: skip
MAX_NAME = 200
"""A name taken from content is cut here; the content itself stands below."""
_LEFT_OUT = frozenset({"script", "style", "template", "noscript", "head", "meta", "link"})
_NAMES = ("aria-label", "aria_label", "alt", "placeholder", "title")
MAX_DEPTH = 400
"""Deeper elements stand at this depth: no page that people use nests so far."""


def html_tree(markup: str, keep: frozenset[str] = frozenset()) -> str:
    """The page as text in our dialect; total: any text gives a tree.

    Args:
        markup: a document or a piece of one.
        keep: bids of elements that stay although they say nothing.
    """
    parser = LexborHTMLParser(markup)
    title = parser.css_first("title")
    named = " ".join(title.text().split()) if title is not None else ""
    body = parser.body
    lines = _below(body, keep) if body is not None else ()
    return render_tree((Node(0, None, "RootWebArea", named), *lines))


def _below(body: LexborNode, keep: frozenset[str]) -> Iterator[Node]:
    """What stands in the body, in order; no recursion, since markup may nest without end."""
    waiting = [(body.first_child, 1)]
    while waiting:
        element, depth = waiting.pop()
        if element is None:
            continue
        waiting.append((element.next, depth))
        tag = element.tag
        if tag == "-text":
            words = " ".join((element.text_content or "").split())
            if words:
                yield Node(depth, None, "StaticText", words)
        elif tag is not None and tag not in _LEFT_OUT and not tag.startswith(("-", "!")):
            node = _node(element, tag, depth, keep)
            inner = depth if node is None else min(depth + 1, MAX_DEPTH)
            waiting.append((element.first_child, inner))
            if node is not None:
                yield node


def _node(element: LexborNode, tag: str, depth: int, keep: frozenset[str]) -> Node | None:
    """An element; None for a wrapper that says nothing."""
    said = element.attributes
    bid = said.get("backend_node_id")
    if bid is None or not (bid.isalnum() and bid.isascii()):
        bid = None
    role = _role(tag, said)
    name = next((v for k in _NAMES if (v := said.get(k))), None)
    says_nothing = role == "generic" and name is None and not (bid and _acts(said))
    if says_nothing and bid not in keep:
        return None
    if name is None and role in NAMED_BY_CONTENT:
        name = " ".join(element.text(separator=" ").split())[:MAX_NAME]
    return Node(depth, bid, role, name or "", _states(said))


def _role(tag: str, said: dict[str, str | None]) -> str:
    role = said.get("role")
    if role and role.isalpha() and role.isascii():
        return role
    if tag == "input":
        return INPUTS.get(said.get("type") or "", "textbox")
    return ROLES.get(tag, "generic")


def _acts(said: dict[str, str | None]) -> bool:
    return any(k in said for k in ("onclick", "tabindex", "is_clickable", "contenteditable"))


def _states(said: dict[str, str | None]) -> tuple[tuple[str, AttrValue], ...]:
    made: list[tuple[str, AttrValue]] = []
    value = said.get("value") or said.get("input_value")
    if value:
        made.append(("value", value))
    made += [(k, "true") for k in ("checked", "selected") if k in said]
    made += [("disabled", None)] if "disabled" in said else []
    return tuple(made)
