"""WebArena's elements: `[12] textbox 'Name' focused: True required: False`; roles may be tag names.

Values are not quoted and may hold blanks: a value ends where the next ` key: ` begins.
"""

import re
from functools import lru_cache

from dynaweb.axtree.dialects.grammar import Reading, stretches, value_of
from dynaweb.axtree.dialects.quoted import quick_quoted, read_start, write_start
from dynaweb.axtree.tree import MAX_KNOWN_CHARS, Attrs, Node
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
    attrs: Attrs = ()
    if at < len(text):
        rest = text[at:]
        attrs = _known_attrs(rest) if len(rest) <= MAX_KNOWN_CHARS else _attrs(rest)
    return Node(0, bid, role, name, attrs), odd


def write_webarena(node: Node) -> str:
    """The element as WebArena writes it."""
    return write_start(node) + _spelt(node.attrs)


def _spelt(attrs: Attrs) -> str:
    return "".join([f" {key}: {True if value is None else value}" for key, value in attrs])


def _attrs_spelt_so(text: str) -> Attrs | None:
    """Attributes, where they are spelt just so."""
    try:
        attrs = _attrs(text)
    except TreeError:
        return None
    return attrs if _spelt(attrs) == text else None


def _attrs(text: str) -> Attrs:
    keys = list(_KEY.finditer(text))
    if not keys or keys[0].start() != 0:
        raise TreeError(f"cannot read {text[:40]!r}: expected ` key: value`")
    return tuple([(key.group(1), value_of(token)) for key, token in stretches(keys, text)])


_known_attrs = lru_cache(maxsize=4_096)(_attrs)
"""Few different ends stand on many lines: ` required: False`."""

QUICK_WEBARENA = quick_quoted(_attrs_spelt_so)
