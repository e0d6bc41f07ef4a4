"""HTML as an accessibility tree, as far as markup tells it: roles, names, values and states; bids from `backend_node_id`.

Roles follow the W3C's HTML-AAM for the elements that matter to an agent; what scripts and styles would hide is not known here.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from dynaweb.axtree.dialects.roles import TAG_ROLES
from dynaweb.axtree.tree import AttrValue, Node, render_tree

INPUTS = {
    "checkbox": "checkbox", "radio": "radio", "submit": "button", "button": "button", "reset": "button", "image": "button",
    "range": "slider", "number": "spinbutton", "search": "searchbox", "file": "button",
}  # fmt: skip
NAMED_BY_CONTENT = frozenset({"link", "button", "option", "heading", "tab", "menuitem", "columnheader", "LabelText"})  # fmt: skip
MAX_NAME = 200
"""A name taken from content is cut here; the content itself stands below."""
_LEFT_OUT = frozenset({"script", "style", "template", "noscript", "head", "meta", "link"})
_NAMES = ("aria-label", "aria_label", "alt", "placeholder", "title")
_NOT_DRAWN = "-1,-1,-1,-1"
"""`bounding_box_rect` of what Mind2Web's browser did not draw: closed menus, hidden dialogs."""
_OF_A_LIST = frozenset({"option", "optgroup"})
"""A closed list does not draw its options, and they can be selected all the same."""
MAX_DEPTH = 400
"""Deeper elements stand at this depth: no page that people use nests so far."""
_WRAPPED = re.compile(r"</?text\b[^<>]*>")
"""Around every text of a Mind2Web page, in the title too, where HTML takes it for text."""
_SWITCHED = {"checked": "input_checked", "selected": "option_selected"}
"""State -> how a snapshot of Chromium's, and so Mind2Web, spells it."""
_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)(\s[^<>]*)?/>")
_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})  # fmt: skip
_UNREAD = re.compile(r"(</?)(?=(?:iframe|textarea|noscript|noembed|noframes|xmp)\b)", re.IGNORECASE)  # fmt: skip
"""Elements whose content HTML takes for plain text."""
_READ_ON = "x-"
"""Before the name of such an element, so that its content is read as elements."""


def html_of_xml(markup: str) -> str:
    """A page written as XML, as Mind2Web's are, in HTML that means the same.

    HTML takes `<a/>` for the beginning of a link that everything after it stands in, and the elements in a frame or a text area for text.
    """
    closed = _CLOSED.sub(_open_and_close, markup)
    return _UNREAD.sub(rf"\1{_READ_ON}", closed)


def _open_and_close(found: re.Match[str]) -> str:
    name, rest = found.group(1), found.group(2) or ""
    return found.group() if name.lower() in _VOID else f"<{name}{rest}></{name}>"


def html_tree(markup: str, keep: frozenset[str] = frozenset()) -> str:
    """The page as text in our dialect; total: any text gives a tree.

    Args:
        markup: a document or a piece of one.
        keep: bids of elements that stay although they say nothing.
    """
    parser = LexborHTMLParser(markup)
    title = parser.css_first("title")
    named = " ".join(_WRAPPED.sub("", title.text()).split()) if title is not None else ""
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
        tag = (element.tag or "").removeprefix(_READ_ON)
        if tag == "-text":
            words = " ".join((element.text_content or "").split())
            if words and not (element.parent is not None and _is_hidden(element.parent, keep)):
                yield Node(depth, None, "StaticText", words)
        elif tag and tag not in _LEFT_OUT and not tag.startswith(("-", "!")):
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
    if _is_hidden(element, keep):
        return None
    role = _role(tag, said)
    name = next((v for k in _NAMES if (v := said.get(k))), None)
    says_nothing = role == "generic" and name is None and not (bid and _acts(said))
    if says_nothing and bid not in keep:
        return None
    if name is None and role in NAMED_BY_CONTENT:
        name = " ".join(element.text(separator=" ").split())[:MAX_NAME]
    return Node(depth, bid, role, name or "", _states(said))


def _is_hidden(element: LexborNode, keep: frozenset[str]) -> bool:
    """Whether the recording browser did not draw an element; what lies below it is judged by itself."""
    said = element.attributes
    if said.get("bounding_box_rect") != _NOT_DRAWN or said.get("backend_node_id") in keep:
        return False
    return element.tag not in _OF_A_LIST


def _role(tag: str, said: dict[str, str | None]) -> str:
    role = said.get("role")
    if role and role.isalpha() and role.isascii():
        return role
    if tag == "input":
        return INPUTS.get(said.get("type") or "", "textbox")
    return TAG_ROLES.get(tag, "generic")


def _acts(said: dict[str, str | None]) -> bool:
    return any(k in said for k in ("onclick", "tabindex", "is_clickable", "contenteditable"))


def _states(said: dict[str, str | None]) -> tuple[tuple[str, AttrValue], ...]:
    made: list[tuple[str, AttrValue]] = []
    value = said.get("input_value") or said.get("value")
    if value:
        made.append(("value", value))
    made += [(k, "true") for k, of in _SWITCHED.items() if k in said or said.get(of) == "true"]
    made += [("disabled", None)] if "disabled" in said else []
    return tuple(made)
