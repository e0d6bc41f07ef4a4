"""WebArena's elements: `[12] textbox 'Name' focused: True required: False`; roles may be tag names.

Values are not quoted and may hold blanks: a value ends where the next ` key: ` begins.
"""

import re

from dynaweb.axtree.dialects.grammar import Reading, stretches, value_of
from dynaweb.axtree.dialects.quoted import read_start, write_start
from dynaweb.axtree.tree import Attrs, Node
from dynaweb.errors import TreeError

_KEY = re.compile(r" ([A-Za-z]+): ")


def read_webarena(text: str) -> Reading:
    """One element.

    Raises:
        TreeError: no element; says why.
    """
    bid, role, name, at, odd = read_start(text)
    if name is None and at < len(text) and _KEY.match(text, at) is None:
        raise TreeError(f"expected a quoted name after {role!r}")
    return Node(0, bid, role, name, _attrs(text, at)), odd


def write_webarena(node: Node, _opens: bool) -> str:
    """The element as WebArena writes it."""
    return write_start(node) + "".join(
        f" {key}: {True if value is None else value}" for key, value in node.attrs
    )


def _attrs(text: str, at: int) -> Attrs:
    keys = list(_KEY.finditer(text, at))
    if at < len(text) and (not keys or keys[0].start() != at):
        raise TreeError(f"cannot read {text[at : at + 40]!r}: expected ` key: value`")
    return tuple((key.group(1), value_of(token)) for key, token in stretches(keys, text))
