r"""Silverstream's elements: BrowserGym's without quotes, so that a name may hold commas and raw line breaks.

    <tab>[107] combobox Field value='All', center=(8,9), inner_text=All<line break>Title, type=button

What an element is must be guessed: a line begins one when it is indented and shows an id or a known
role; attributes begin at the first known `, key=`. A guess may cut a name in the wrong place; reading
and writing still gives the text back.
"""

import re

from dynaweb.axtree.dialects.grammar import Reading, stretches, value_of
from dynaweb.axtree.dialects.quoted import no_head
from dynaweb.axtree.dialects.roles import ROLES
from dynaweb.axtree.tree import HEAD, QUOTED, Attrs, AttrValue, Node, unquote
from dynaweb.errors import DeltaError, TreeError

_BARE_KEYS = ("center", "box", "inner_text", "type", "title", "placeholder", "alt")
_QUOTED_KEYS = (
    *("url", "hasPopup", "orientation", "checked", "pressed", "live", "relevant", "autocomplete"),
    *("controls", "describedby", "labelledby", "owns", "valuetext", "keyshortcuts", "invalid"),
    *("roledescription", "errormessage", "details", "activedescendant"),
)
_TYPED_KEYS = (
    *("expanded", "selected", "disabled", "modal", "contenteditable", "multiselectable", "level"),
    *("valuemin", "valuemax", "readonly", "required", "busy", "atomic", "focused", "visible"),
    *("clickable", "multiline", "som"),
)
_KEYS = "|".join(_BARE_KEYS + _QUOTED_KEYS + _TYPED_KEYS)
_ATTR = re.compile(rf", (?:({_KEYS})=|({'|'.join(_TYPED_KEYS)})(?=, |\Z))")
_BEGINS = re.compile(rf"{HEAD.pattern}(?=[ ,]|\Z)")
_RAW = frozenset(_BARE_KEYS)
_AUTOCOMPLETE = frozenset({"inline", "list", "both", "none"})
"""Accessibility values, quoted; a bare one is the HTML attribute's."""
_VALUE = "value='"
_TEXT_ROLES = frozenset({"StaticText", "InlineTextBox"})


def read_unquoted(text: str) -> Reading:
    """One element, raw line breaks included.

    Raises:
        TreeError: no element; says why.
    """
    head = HEAD.match(text)
    if head is None:
        raise TreeError(no_head(text))
    bid, role, at = head.group("bid"), head.group("role"), head.end()
    if at < len(text) and not text.startswith((" ", ", "), at):
        raise TreeError(f"a role ends at {text[at : at + 20]!r}")
    if role in _TEXT_ROLES:
        return Node(0, bid, role, text[at + 1 :] if at < len(text) else None), ""
    found = list(_ATTR.finditer(text, at)) if ", " in text else []
    name, attrs = _name_and_value(text[at : found[0].start() if found else len(text)])
    if found:
        attrs += tuple(
            [
                (f.group(1), _token(f.group(1), token)) if f.group(1) else (f.group(2), None)
                for f, token in stretches(found, text)
            ]
        )
    return Node(0, bid, role, name, attrs), ""


def write_unquoted(node: Node) -> str:
    """The element as Silverstream writes it."""
    parts = [f"[{node.bid}] " if node.bid is not None else "", node.role]
    parts += [] if node.name is None else [" ", node.name]
    for i, (key, value) in enumerate(node.attrs):
        is_value = i == 0 and key == "value"
        parts.append(f" {_VALUE}{value}'" if is_value else f", {_attr(key, value)}")
    return "".join(parts)


def begins_unquoted(line: str) -> bool:
    """Whether an indented line begins an element; any other goes on with the name before it."""
    head = _BEGINS.match(line)
    return head is not None and (head.group("bid") is not None or head.group("role") in ROLES)


def _name_and_value(text: str) -> tuple[str | None, Attrs]:
    """` Field value='All'` -> name and value; the value is not escaped."""
    at = text.find(f" {_VALUE}")
    if at < 0 or not text.endswith("'") or len(text) < at + len(_VALUE) + 2:
        return text[1:] if text else None, ()
    value = text[at + len(_VALUE) + 1 : -1]
    return text[1:at] if at else None, (("value", value),)


def _token(key: str, token: str) -> AttrValue:
    if key not in _RAW and QUOTED.fullmatch(token):
        try:
            return unquote(token)
        except DeltaError:
            return token
    return value_of(token)


def _attr(key: str, value: AttrValue) -> str:
    if value is None:
        return key
    is_bare = key in _RAW or (key == "autocomplete" and value not in _AUTOCOMPLETE)
    return f"{key}={value}" if is_bare else f"{key}={value!r}"
