"""How markup spells names and values so that they come back exactly.

A text stands as it is where that is safe and unmistakable; a text that could be taken for a number, a boolean, a flag or quoted
text, and one with characters that markup cannot hold, stands quoted as our dialect quotes it. Numbers and booleans stand bare.
"""

from dynaweb.axtree.tree import (
    BARE,
    KEY,
    QUOTED,
    Attrs,
    AttrValue,
    Node,
    parse_attrs,
    quote,
    render_attr,
    unquote,
)
from dynaweb.axtree.tree import parse_value as _dialect_value
from dynaweb.errors import TreeError

OWN = frozenset({"bid", "name", "depth", "attrs", "role", "type"})
"""Attributes of markup that mean something of ours."""
ALL = "attrs"
"""Holds all attributes in our dialect's spelling, where a key cannot be an attribute of markup."""


def spell_text(text: str) -> str:
    """A name, or the text of an element."""
    return quote(text) if not text.isprintable() or QUOTED.fullmatch(text) else text


def read_text(spelled: str) -> str:
    """What `spell_text` wrote."""
    return unquote(spelled) if QUOTED.fullmatch(spelled) else spelled


def spell_value(key: str, value: AttrValue) -> str:
    """The value of an attribute; a flag is its own key."""
    if value is None:
        return key
    if not isinstance(value, str):
        return repr(value)
    if value == key or BARE.fullmatch(value):
        return quote(value)
    return spell_text(value)


def read_value(key: str, spelled: str) -> AttrValue:
    """What `spell_value` wrote."""
    if spelled == key:
        return None
    if BARE.fullmatch(spelled) or QUOTED.fullmatch(spelled):
        return _dialect_value(spelled)
    return spelled


def spell_attrs(attrs: Attrs) -> list[tuple[str, str]]:
    """Attributes of markup, in order."""
    if all(_is_plain(key, value) for key, value in attrs):
        return [(key, spell_value(key, value)) for key, value in attrs]
    return [(ALL, "".join(f", {render_attr(k, v)}" for k, v in attrs))]


def read_attrs(found: list[tuple[str, str | None]]) -> Attrs:
    """What `spell_attrs` wrote; our own attributes among them are passed over.

    Raises:
        DeltaError: `attrs` holds something else than attributes.
    """
    held = dict(found).get(ALL)
    if held is not None:
        return parse_attrs(held, 0)
    return tuple((k, read_value(k, v if v is not None else k)) for k, v in found if k not in OWN)


def _is_plain(key: str, value: AttrValue) -> bool:
    """Markup can hold it: HTML reads keys in lower case, XML keeps `xml` for itself, and floats like 1e999 have no words."""
    if KEY.fullmatch(key) is None or key != key.lower() or key in OWN or key.startswith("xml"):
        return False
    return not isinstance(value, float) or BARE.fullmatch(repr(value)) is not None


def depths(tree: tuple[Node, ...]) -> list[tuple[Node, int, bool]]:
    """Each line with the depth that nesting gives it, and whether that is its own.

    An element is nested in the nearest line above it that is less deep; where lines skip levels, nesting alone does not tell.
    """
    open_depths: list[int] = []
    made: list[tuple[Node, int, bool]] = []
    for node in tree:
        while open_depths and open_depths[-1] >= node.depth:
            open_depths.pop()
        implied = open_depths[-1] + 1 if open_depths else 0
        made.append((node, len(open_depths), implied == node.depth))
        open_depths.append(node.depth)
    return made


def own_depth(spelled: str | None, implied: int) -> int:
    """The depth of a line that is read back.

    Raises:
        TreeError: `depth` is no number, or not below the line it stands in.
    """
    if spelled is None:
        return implied
    if not (spelled.isascii() and spelled.isdigit() and len(spelled) < 7) or int(spelled) < implied:
        raise TreeError(
            f"depth {spelled[:20]!r} is no depth below its element: expected a number from {implied}"
        )
    return int(spelled)
