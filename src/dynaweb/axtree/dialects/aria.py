"""Playwright's aria snapshots: `- button "Save" [disabled] [ref=e12]: text`, with or without refs.

One line is one node. An element's text on its own line is the attribute `text`, or `value` in a field;
`- /url: x` is a node whose role is `/url`, below its link; `- text: x` is a node whose role is `text`.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from dynaweb.axtree.dialects.grammar import Placed, Quick, Reading, value_of
from dynaweb.axtree.dialects.yaml import (
    needs_quotes,
    read_name,
    read_value,
    write_key,
    write_name,
    write_value,
)
from dynaweb.axtree.tree import MAX_KNOWN_CHARS, Attrs, AttrValue, Node
from dynaweb.errors import TreeError

_KEY = re.compile(
    r"(?P<role>/?[A-Za-z][A-Za-z0-9_-]*)"
    r"(?P<name> \"[^\"\\]*(?:\\.[^\"\\]*)*\"| /[^/\\]*(?:\\.[^/\\]*)*/)?"
    r"(?P<attrs>(?: \[[A-Za-z][A-Za-z0-9_-]*(?:=[^\[\]]*)?\])*)",
    re.DOTALL,
)
_QUICK = (
    r"- ((/?[A-Za-z][A-Za-z0-9_-]*)(?: \"((?!/)[^\"\\\n{}`]*)\")?((?: \[[^\[\]\n]*\])*))"
    r"(?:(:)(?: (?:\"([^\"\\\n]+)\"|([^'\"\n].*)))?)?"
)
"""Key, role, name, marks, colon, text in quotes and plain text of a line without escapes or what alone would put its key in quotes."""
_QUOTED_KEY = re.compile(r"'((?:[^']|'')*)'")
_ATTR = re.compile(r" \[([A-Za-z][A-Za-z0-9_-]*)(?:=([^\[\]]*))?\]")
_BID = re.compile(r"[A-Za-z0-9]+")
_AFTER_REF = frozenset({"cursor", "box"})
FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "slider", "combobox"})
"""Roles whose text is what was typed or chosen."""
TEXT = "text"


def read_aria(text: str) -> Reading:
    """One line.

    Raises:
        TreeError: no line of a snapshot; says why.
    """
    if not text.startswith("- "):
        raise TreeError("expected `- role`" if text.strip() else "blank")
    quoted = _QUOTED_KEY.match(text, 2)
    key = quoted.group(1).replace("''", "'") if quoted is not None else text[2:]
    found = _KEY.match(key)
    if found is None or (quoted is not None and found.end() != len(key)):
        raise TreeError(f'cannot read {key[:40]!r}: expected `role "name" [key=value]`')
    rest = text[quoted.end() :] if quoted is not None else key[found.end() :]
    cut = "cut inside an attribute" if rest.startswith(" [") and "]" not in rest else ""
    inline = None if cut else _inline(rest)
    role, token, marks = found.groups()
    if _is_content(role):
        return _content(role, found, inline), ""
    name = None if token is None else read_name(token[1:])
    bid, attrs, odd = _attrs(marks) if marks else (None, [], "")
    if inline is not None:
        attrs.append((_inline_key(role), inline))
    return Node(0, bid, role, name, tuple(attrs)), cut or odd


def _built(depth: int, parts: Sequence[str]) -> Node | Placed | None:
    """A line that Playwright surely writes so."""
    _, key, role, token, marks, colon, quoted, plain = parts
    inline = quoted or plain
    if not role or (inline and needs_quotes(inline) != bool(quoted)) or not quoted.isprintable():
        return None
    if role == TEXT or role[0] == "/":
        return Node(depth, None, role, inline) if inline and key == role else None
    if not token.isprintable() or ": " in token or " #" in token:
        return None
    name = token if token or key.startswith(' ""', len(role)) else None
    if key == role and _needs_quotes(role):
        return None
    bid: str | None = None
    attrs: Attrs = ()
    if marks:
        known = _marks_spelt_so(marks) if len(marks) <= MAX_KNOWN_CHARS else None
        if known is None:
            return None
        bid, attrs = known
    if inline:
        return Node(depth, bid, role, name, (*attrs, (_inline_key(role), inline)))
    node = Node(depth, bid, role, name, attrs)
    return Placed(node, "", not colon, bool(colon))


QUICK_ARIA = Quick.of(_QUICK, _built)


_needs_quotes = lru_cache(maxsize=1_024)(needs_quotes)
"""Of roles: there are few."""


@lru_cache(maxsize=4_096)
def _marks_spelt_so(text: str) -> tuple[str | None, Attrs] | None:
    """Ref and attributes, where they are spelt just so and none is named like an element's own text."""
    bid, attrs, odd = _attrs(text)
    keys = {key for key, _ in attrs}
    if odd or needs_quotes(f"a{text}") or not keys.isdisjoint((TEXT, "value")):
        return None
    return (bid, tuple(attrs)) if _marks(bid, attrs) == text else None


def write_aria(node: Node) -> str:
    """The line as Playwright writes it, where no elements stand below it."""
    if _is_content(node.role):
        return f"- {node.role}: {write_value(node.name or '')}"
    inline_key = _inline_key(node.role)
    key = node.role if node.name is None else f"{node.role} {write_name(node.name)}"
    key = write_key(key + _marks(node.bid, [a for a in node.attrs if a[0] != inline_key]))
    text = node.attr(inline_key)
    return f"- {key}" if text is None else f"- {key}: {write_value(str(text))}"


def _marks(bid: str | None, attrs: Sequence[tuple[str, AttrValue]]) -> str:
    before = "".join([_attr(k, v) for k, v in attrs if k not in _AFTER_REF])
    after = "".join([_attr(k, v) for k, v in attrs if k in _AFTER_REF])
    return f"{before}{after}" if bid is None else f"{before} [ref={bid}]{after}"


def mark_aria(node: Node) -> str:
    """The colon behind an element with others below it, where no text of its own brings one."""
    return "" if _is_content(node.role) or node.attr(_inline_key(node.role)) is not None else ":"


def _is_content(role: str) -> bool:
    """Whether a line is text or a property of the element above, not an element."""
    return role == TEXT or role.startswith("/")


def _content(role: str, found: re.Match[str], inline: str | None) -> Node:
    if inline is None or found.group("name") is not None or found.group("attrs"):
        raise TreeError(f"expected `- {role}: text`")
    return Node(0, None, role, inline)


def _inline_key(role: str) -> str:
    return "value" if role in FIELDS else TEXT


def _inline(rest: str) -> str | None:
    """What stands after a key: nothing, a colon alone, or a colon and text."""
    if rest in ("", ":"):
        return None
    if not rest.startswith(": "):
        raise TreeError(f"cannot read {rest[:40]!r}: expected `: text`")
    return read_value(rest[2:])


def _attrs(text: str) -> tuple[str | None, list[tuple[str, AttrValue]], str]:
    """Ref, the other attributes, and what is wrong with them."""
    bid: str | None = None
    attrs: list[tuple[str, AttrValue]] = []
    for found in _ATTR.finditer(text):
        key, token = found.groups()
        if key == "ref" and token is not None and bid is None and _BID.fullmatch(token):
            bid = token
        else:
            attrs.append((key, None if token is None else value_of(token)))
    odd = "an attribute stands twice" if len({k for k, _ in attrs}) < len(attrs) else ""
    return bid, attrs, odd


def _attr(key: str, value: AttrValue) -> str:
    return f" [{key}]" if value is None else f" [{key}={value}]"
