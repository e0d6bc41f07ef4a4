"""Playwright's aria snapshots: `- button "Save" [disabled] [ref=e12]: text`, with or without refs.

One line is one node. An element's text on its own line is the attribute `text`, or `value` in a field;
`- /url: x` is a node whose role is `/url`, below its link; `- text: x` is a node whose role is `text`.
"""

import re

from dynaweb.axtree.dialects.grammar import Reading, value_of
from dynaweb.axtree.dialects.yaml import read_name, read_value, write_key, write_name, write_value
from dynaweb.axtree.tree import AttrValue, Node
from dynaweb.errors import TreeError

_KEY = re.compile(
    r"(?P<role>/?[A-Za-z][A-Za-z0-9_-]*)"
    r"(?P<name> \"[^\"\\]*(?:\\.[^\"\\]*)*\"| /[^/\\]*(?:\\.[^/\\]*)*/)?"
    r"(?P<attrs>(?: \[[A-Za-z][A-Za-z0-9_-]*(?:=[^\[\]]*)?\])*)",
    re.DOTALL,
)
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


def write_aria(node: Node) -> str:
    """The line as Playwright writes it, where no elements stand below it."""
    if _is_content(node.role):
        return f"- {node.role}: {write_value(node.name or '')}"
    inline_key = _inline_key(node.role)
    key = node.role if node.name is None else f"{node.role} {write_name(node.name)}"
    after = ""
    for k, value in node.attrs:
        if k in _AFTER_REF:
            after += _attr(k, value)
        elif k != inline_key:
            key += _attr(k, value)
    ref = "" if node.bid is None else f" [ref={node.bid}]"
    key = write_key(f"{key}{ref}{after}")
    text = node.attr(inline_key)
    return f"- {key}" if text is None else f"- {key}: {write_value(str(text))}"


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
