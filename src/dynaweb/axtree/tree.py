"""The page as a sequence of lines: parse, render, byte for byte.

Our dialect is BrowserGym's, one element a line, a tab for each level of depth:

    RootWebArea 'Click Test Task'
    <tab>[13] button 'ONE', disabled
    <tab>StaticText 'x'

Names and text values are written as Python writes strings, so a line never contains a line break;
other values are bare numbers, `True` or `False`; a flag has no value. `read_tree` takes any text and keeps a line it
cannot explain as it is (role "", name the whole line); `parse_tree` refuses such a line by number.
"""

import re
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from dynaweb.errors import DeltaError

AttrValue: TypeAlias = str | bool | int | float | None
Attrs: TypeAlias = tuple[tuple[str, AttrValue], ...]

MAX_KNOWN_CHARS = 200
"""Only lines up to this length are remembered, so that memory stays bounded (about 10 MB)."""

_QUOTED = r"'[^'\\\n]*(?:\\[^\n][^'\\\n]*)*'|\"[^\"\\\n]*(?:\\[^\n][^\"\\\n]*)*\""
QUOTED = re.compile(_QUOTED)
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
BARE = re.compile(r"-?[0-9][0-9.e+-]{0,30}|True|False")
_LINE = re.compile(rf"(\t*)(?:\[([A-Za-z0-9]+)\] )?([A-Za-z][A-Za-z0-9_-]*)(?: ({_QUOTED}))?")
HEAD = re.compile(r"(?:\[(?P<bid>[A-Za-z0-9]+)\] )?(?P<role>[A-Za-z][A-Za-z0-9_-]*)")
_ATTR = re.compile(rf", ({KEY.pattern})(?:=(?:({_QUOTED})|({BARE.pattern})))?")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


class Node(NamedTuple):
    """One line. A tuple: pages have thousands of lines, and tuples are quickest to make and to compare."""

    depth: int
    bid: str | None
    role: str
    """Empty when no dialect explains the line: then `name` is the line without its tabs."""
    name: str | None
    attrs: Attrs = ()

    def attr(self, key: str) -> AttrValue:
        """Value of an attribute; True for a flag, None when it is not there."""
        for k, value in self.attrs:
            if k == key:
                return True if value is None else value
        return None


Tree: TypeAlias = tuple[Node, ...]
"""Lines in document order; the first is the root."""


def quote(text: str) -> str:
    """Text as the dialect writes it: quoted, control characters escaped."""
    return repr(text)


def unquote(token: str) -> str:
    """The text of a quoted token.

    Raises:
        DeltaError: an escape stands for no character.
    """
    body = token[1:-1]
    return _ESCAPE.sub(_unescape, body) if "\\" in body else body


def _unescape(found: re.Match[str]) -> str:
    code = found.group(1)
    if len(code) == 1:
        return _SIMPLE.get(code, "\\" + code)
    number = int(code[1:], 16)
    if number > 0x10FFFF:
        raise DeltaError(f"escape \\{code} stands for no character")
    return chr(number)


def parse_value(token: str) -> AttrValue:
    """A value of an attribute from its token.

    Raises:
        DeltaError: neither quoted text, number nor boolean.
    """
    if QUOTED.fullmatch(token):
        return unquote(token)
    if token in ("True", "False"):
        return token == "True"
    try:
        return float(token) if "." in token or "e" in token else int(token)
    except ValueError as error:
        raise DeltaError(
            f"value {token[:40]!r} is neither quoted text, a number, True nor False"
        ) from error


def render_attr(key: str, value: AttrValue) -> str:
    """One attribute: `checked='true'`, `level=2`, or `disabled`."""
    return key if value is None else f"{key}={value!r}"


def render_attrs(attrs: Attrs) -> str:
    """Attributes as they follow a name: `, checked='true', disabled`."""
    return "".join([f", {k}" if v is None else f", {k}={v!r}" for k, v in attrs])


def render_node(node: Node) -> str:
    """One line, its tabs included."""
    depth, bid, role, name, attrs = node
    indent = "\t" * depth
    if not role:
        return indent + (name or "")
    body = role if name is None else f"{role} {name!r}"
    if attrs:
        body += render_attrs(attrs)
    return indent + body if bid is None else f"{indent}[{bid}] {body}"


def render_tree(tree: Tree) -> str:
    """The text of a tree."""
    return "\n".join(map(render_node, tree))


def parse_body(text: str) -> tuple[str, str | None, Attrs]:
    """Role, name and attributes of a line without tabs and bid: `button 'OK', disabled`.

    Raises:
        DeltaError: the text is not one element.
    """
    head = HEAD.match(text)
    if head is None or head.group("bid") is not None:
        raise DeltaError(f"no role at the start of {text[:60]!r}")
    at = head.end()
    name: str | None = None
    quoted = QUOTED.match(text, at + 1) if text.startswith(" ", at) else None
    if quoted is not None:
        name, at = unquote(quoted.group()), quoted.end()
    attrs = parse_attrs(text, at)
    return head.group("role"), name, attrs


def parse_attrs(text: str, at: int) -> Attrs:
    """Attributes from position `at` to the end: `, checked='true', disabled`.

    Raises:
        DeltaError: something else stands there, or a key stands there twice.
    """
    attrs: dict[str, AttrValue] = {}
    while at < len(text):
        found = _ATTR.match(text, at)
        if found is None:
            raise DeltaError(
                f"cannot read {text[at : at + 40]!r}: expected `, key` or `, key=value`"
            )
        key, quoted, bare = found.groups()
        if key in attrs:
            raise DeltaError(f"attribute {key!r} stands twice in {text[:60]!r}")
        at = found.end()
        if quoted is not None:
            attrs[key] = unquote(quoted)
        elif bare is not None:
            attrs[key] = parse_value(bare)
        elif text.startswith("=", at):
            raise DeltaError(f"attribute {key!r} has no readable value in {text[:60]!r}")
        else:
            attrs[key] = None
    return tuple(attrs.items())


@lru_cache(maxsize=4_096)
def _known_attrs(text: str) -> Attrs:
    return parse_attrs(text, 0)


def attrs_of(text: str) -> Attrs:
    """Attributes from a text that holds nothing else; few different ones stand on many lines.

    Raises:
        DeltaError: as `parse_attrs`.
    """
    return _known_attrs(text) if len(text) <= MAX_KNOWN_CHARS else parse_attrs(text, 0)


def parse_line(line: str) -> Node:
    """One line of our dialect.

    Raises:
        DeltaError: the line is not one element, or not written as we write it.
    """
    found = _LINE.match(line)
    if found is None:
        raise DeltaError(f"no element at the start of {line.lstrip()[:60]!r}")
    tabs, bid, role, token = found.groups()
    name = None if token is None else unquote(token)
    attrs = attrs_of(line[found.end() :]) if found.end() < len(line) else ()
    node = Node(len(tabs), bid, role, name, attrs)
    if render_node(node) != line:
        raise DeltaError(
            f"{line[:80]!r} is not written as this dialect writes it: {render_node(node)[:80]!r}"
        )
    return node


def read_line(line: str) -> Node:
    """Any line; kept as it is when reading and writing it would not give it back."""
    try:
        return parse_line(line)
    except DeltaError:
        body = line.lstrip("\t")
        return Node(len(line) - len(body), None, "", body)


def read_tree(text: str) -> Tree:
    """Any text as a tree: `render_tree(read_tree(text)) == text`."""
    return tuple(
        [
            _known_line(line) if len(line) <= MAX_KNOWN_CHARS else read_line(line)
            for line in text.split("\n")
        ]
    )


def find_element(tree: Tree, bid: str) -> int | None:
    """Number of the first node with this bid; None when it is not on the page."""
    return next((i for i, node in enumerate(tree) if node.bid == bid), None)


def subtree_end(tree: Tree, at: int) -> int:
    """Number of the first node after node `at` that does not stand inside it."""
    depth, end = tree[at].depth, at + 1
    while end < len(tree) and tree[end].depth > depth:
        end += 1
    return end


_known_line = lru_cache(maxsize=32_768)(read_line)
"""Lines are values and the same ones come again and again, on every page of an episode."""


def parse_tree(text: str) -> Tree:
    """A tree in our dialect: `render_tree(parse_tree(text)) == text`.

    Raises:
        DeltaError: a line that is not one element, or not written as we write it; the line's
            number says where.
    """
    nodes: list[Node] = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            nodes.append(parse_line(line))
        except DeltaError as error:
            raise DeltaError(f"line {number}: {error}") from error
    return tuple(nodes)
