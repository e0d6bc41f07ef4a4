r"""Silverstream's elements: BrowserGym's without quotes, so that a name may hold commas and raw line breaks.

    <tab>[107] combobox Field value='All', center=(8,9), inner_text=All<line break>Title, type=button

What an element is must be guessed: a line begins one when it is indented and shows an id or a known
role; attributes begin at the first known `, key=`. A guess may cut a name in the wrong place; reading
and writing still gives the text back.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from dynaweb.axtree.dialects.grammar import Quick, Reading, stretches, value_of
from dynaweb.axtree.dialects.quoted import no_head
from dynaweb.axtree.dialects.roles import ROLES
from dynaweb.axtree.tree import HEAD, MAX_KNOWN_CHARS, QUOTED, Attrs, AttrValue, Node, unquote
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
_QUICK = r"(?:\[([A-Za-z0-9]+)\] )?([A-Za-z][A-Za-z0-9_-]*) (.*)"
"""Id, role, and what follows the blank."""
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
    first = _ATTR.search(text, at) if ", " in text else None
    name, attrs = _name_and_value(text[at : first.start() if first else len(text)])
    if first is not None:
        attrs += _attrs(text[first.start() :])
    return Node(0, bid, role, name, attrs), ""


def _built(depth: int, parts: Sequence[str]) -> Node | None:
    """An element that Silverstream surely writes so: no value, few attributes or none."""
    _, bid, role, text = parts
    if role in _TEXT_ROLES:
        return Node(depth, bid or None, role, text)
    if not role or _VALUE in text:
        return None
    first = _ATTR.search(text) if ", " in text else None
    if first is None:
        return Node(depth, bid or None, role, text)
    attrs = text[first.start() :]
    known = _spelt_so(attrs) if len(attrs) <= MAX_KNOWN_CHARS else None
    return None if known is None else Node(depth, bid or None, role, text[: first.start()], known)


def _begins(parts: Sequence[str]) -> bool:
    """As `begins_unquoted`; a line without indent must have an id."""
    return parts[1] != "" or (parts[0] != "" and parts[2] in ROLES)


QUICK_UNQUOTED = Quick.of(_QUICK, _built, _begins)


@lru_cache(maxsize=4_096)
def _spelt_so(text: str) -> Attrs | None:
    """Attributes, where they are spelt just so; few different ones stand on many lines."""
    attrs = _attrs(text)
    return attrs if "".join([f", {_attr(key, value)}" for key, value in attrs]) == text else None


def _attrs(text: str) -> Attrs:
    """Attributes of a text that begins with the first one."""
    found = list(_ATTR.finditer(text))
    return tuple(
        [
            (f.group(1), _token(f.group(1), token)) if f.group(1) else (f.group(2), None)
            for f, token in stretches(found, text)
        ]
    )


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
