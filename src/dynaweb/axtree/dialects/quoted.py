"""BrowserGym's elements, `[a12] textbox 'Name' value='x', focused, level=2`, and this project's own.

Names and text values are spelt by Python's `repr`; the coordinates that BrowserGym adds
(`center="(8,9)"`) are not. BrowserGym sets no comma before `value`; this project does.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from dynaweb.axtree.dialects.grammar import Quick, Reading, stretches, value_of
from dynaweb.axtree.dialects.roles import ROLES
from dynaweb.axtree.tree import (
    HEAD,
    MAX_KNOWN_CHARS,
    QUOTED,
    Attrs,
    AttrValue,
    Node,
    attrs_of,
    parse_attrs,
    parse_value,
    unquote,
)
from dynaweb.errors import DeltaError, TreeError

_VALUE = " value="
_ID_ALONE = re.compile(r"\[[A-Za-z0-9]*\]?\s*")
_START = re.compile(rf"{HEAD.pattern}(?:( ?)({QUOTED.pattern}))?")
_PLAIN = r"(?:\[([A-Za-z0-9]+)\] )?([A-Za-z][A-Za-z0-9_-]*) '([^'\\\n]*)'(?:(?=[, ])(.*))?"
"""Id, role, name without escapes, and the rest; where the name is printable, `repr` spells it just so."""
_COORDINATES = frozenset({"center", "box"})
_LOOSE = re.compile(r", ([A-Za-z_][A-Za-z0-9_-]*)(=|(?=, |\Z))")


def read_browsergym(text: str) -> Reading:
    """One element of BrowserGym's or this project's dialect.

    Raises:
        TreeError: no element; says why.
    """
    bid, role, name, at, odd = read_start(text)
    attrs: Attrs = ()
    try:
        if text.startswith(_VALUE, at):
            value, at = _value_token(text, at + len(_VALUE))
            attrs = (("value", value),)
        if at < len(text):
            attrs += attrs_of(text[at:])
    except DeltaError as error:
        rest = _loose_attrs(text, at)
        if rest is None:
            raise TreeError(str(error)) from error
        return Node(0, bid, role, name, attrs + rest), odd or str(error)
    return Node(0, bid, role, name, attrs), odd


def quick_quoted(attrs_spelt_so: Callable[[str], Attrs | None]) -> Quick:
    """Elements with a quoted name.

    Args:
        attrs_spelt_so: attributes as they follow a name, where the dialect surely spells them so.
    """
    known = lru_cache(maxsize=4_096)(attrs_spelt_so)  # few different ones stand on many lines

    def build(depth: int, parts: Sequence[str]) -> Node | None:
        _, bid, role, name, rest = parts
        if not role or not name.isprintable():
            return None
        if not rest:
            return Node(depth, bid or None, role, name)
        attrs = known(rest) if len(rest) <= MAX_KNOWN_CHARS else None
        return None if attrs is None else Node(depth, bid or None, role, name, attrs)

    return Quick.of(_PLAIN, build)


def _attrs_spelt_so(text: str, before_value: str) -> Attrs | None:
    try:
        value: Attrs = ()
        at = 0
        if text.startswith(_VALUE):
            said, at = _value_token(text, len(_VALUE))
            value = (("value", said),)
        attrs = value + parse_attrs(text, at)
    except DeltaError:
        return None
    return attrs if _spelt(attrs, before_value) == text else None


QUICK_BROWSERGYM = quick_quoted(partial(_attrs_spelt_so, before_value=" "))
QUICK_DYNAWEB = quick_quoted(partial(_attrs_spelt_so, before_value=", "))


def read_start(text: str) -> tuple[str | None, str, str | None, int, str]:
    """Bid, role, quoted name, where they end, and what is wrong with their spelling.

    Raises:
        TreeError: the text does not begin so.
    """
    found = _START.match(text)
    if found is None:
        raise TreeError(no_head(text))
    bid, role, blank, token = found.groups()
    at = found.end()
    if token is None:
        opened = text[at : at + 2].lstrip(" ")[:1]
        if opened and opened in "'\"":
            name = text[at:].removeprefix(" ")[1:]
            return bid, role, name, len(text), "cut: no quote closes the name"
        if bid is None and at == len(text) and role not in ROLES:
            raise TreeError(f"{role!r} alone is no role we know")
        return bid, role, None, at, ""
    try:
        name = unquote(token)
    except DeltaError as error:
        raise TreeError(str(error)) from error
    return bid, role, name, at, "" if blank else "no blank before the name"


def no_head(text: str) -> str:
    """Why a text does not begin with id and role."""
    if not text.strip():
        return "blank"
    cut = _ID_ALONE.fullmatch(text) is not None
    return "cut after the id" if cut else "no id and role at its start"


def write_browsergym(node: Node) -> str:
    """The element as BrowserGym writes it."""
    return _write(node, " ")


def write_dynaweb(node: Node) -> str:
    """The element as this project writes it."""
    return _write(node, ", ")


def _write(node: Node, before_value: str) -> str:
    start = write_start(node)
    return start + _spelt(node.attrs, before_value) if node.attrs else start


def _spelt(attrs: Attrs, before_value: str) -> str:
    """One or more attributes as they follow a name."""
    text = "".join([_attr(key, value) for key, value in attrs])
    key, value = attrs[0]
    return f"{before_value}{text[2:]}" if key == "value" and value is not None else text


def write_start(node: Node) -> str:
    """Bid, role and quoted name."""
    said = node.role if node.name is None else f"{node.role} {node.name!r}"
    return said if node.bid is None else f"[{node.bid}] {said}"


def _attr(key: str, value: AttrValue) -> str:
    if key in _COORDINATES:
        return f', {key}="{value}"'
    return f", {key}" if value is None else f", {key}={value!r}"


def _value_token(text: str, at: int) -> tuple[AttrValue, int]:
    token = QUOTED.match(text, at)
    if token is not None:
        return unquote(token.group()), token.end()
    stop = text.find(", ", at)
    end = len(text) if stop < 0 else stop
    return parse_value(text[at:end]), end


def _loose_attrs(text: str, at: int) -> Attrs | None:
    """Attributes whose values are bare words; None when something else stands there."""
    found = list(_LOOSE.finditer(text, at))
    if not found or found[0].start() != at:
        return None
    return tuple(
        (f.group(1), value_of(token) if f.group(2) else None) for f, token in stretches(found, text)
    )
