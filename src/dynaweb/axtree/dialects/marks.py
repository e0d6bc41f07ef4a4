"""Elements by number: VisualWebArena's set of marks and WebVoyager's labels.

    [31] [IMG] [Image, description: a fax, url: http://x]       [] [StaticText] [$9]
    [1]: <button> "Save", "Save this file";

Neither escapes its text: a name may hold line breaks, brackets and quotes. WebVoyager names a tag only
for buttons, inputs and text areas; any other element is read as `generic`.
"""

import re
from collections.abc import Sequence

from dynaweb.axtree.dialects.grammar import Quick, Reading
from dynaweb.axtree.tree import Node
from dynaweb.errors import TreeError

_MARK_PARTS = r"\[([A-Za-z0-9]*)\] \[([A-Za-z][A-Za-z0-9_-]*)\] \[(.*)\]"
_MARK = re.compile(_MARK_PARTS, re.DOTALL)
_MARK_HEAD = re.compile(r"\[[A-Za-z0-9]*\] \[[A-Za-z]")
_LABEL = re.compile(r"()\[([0-9]+)\]: (?:<([A-Za-z][A-Za-z0-9-]*)> )?\"(.*)\";", re.DOTALL)
_IMAGE = "IMG"
_IMAGE_KEYS = ("description", "url")
_NEXT = '", "'
ANY_TAG = "generic"


def read_mark(text: str) -> Reading:
    """One element of a set of marks.

    Raises:
        TreeError: no element; says why.
    """
    found = _MARK.fullmatch(text)
    if found is None:
        raise TreeError("expected `[id] [TAG] [text]`" if text.strip() else "blank")
    bid, role, name = found.groups()
    attrs: list[tuple[str, str]] = []
    for key in _IMAGE_KEYS if role == _IMAGE else ():
        before, at, value = (attrs[-1][1] if attrs else name).partition(f", {key}: ")
        if at and attrs:
            attrs[-1] = (attrs[-1][0], before)
        elif at:
            name = before
        if at:
            attrs.append((key, value))
    return Node(0, bid or None, role, name, tuple(attrs)), ""


def write_mark(node: Node) -> str:
    """The element as VisualWebArena writes it."""
    attrs = "".join(f", {key}: {value}" for key, value in node.attrs)
    return f"[{node.bid or ''}] [{node.role}] [{node.name or ''}{attrs}]"


def _built_mark(depth: int, parts: Sequence[str]) -> Node | None:
    """An element that is written as it was read: any but an image, whose text holds attributes."""
    _, bid, role, name = parts
    return Node(depth, bid or None, role, name) if role and role != _IMAGE else None


QUICK_MARK = Quick.of(_MARK_PARTS, _built_mark)


def begins_mark(line: str) -> bool:
    """Whether a line begins an element: any other goes on with the text before it."""
    return _MARK_HEAD.match(line) is not None


def read_label(text: str) -> Reading:
    """One element of WebVoyager's labels; its accessible name, where it differs, is `label`.

    Raises:
        TreeError: no element; says why.
    """
    found = _LABEL.fullmatch(text)
    if found is None:
        raise TreeError('expected `[number]: <tag> "text";`' if text.strip() else "blank")
    return _label(0, found.groups("")), ""


def _label(depth: int, parts: Sequence[str]) -> Node:
    _, bid, tag, texts = parts
    name, at, label = texts.partition(_NEXT)
    return Node(depth, bid, tag or ANY_TAG, name, (("label", label),) if at else ())


def _built(depth: int, parts: Sequence[str]) -> Node | None:
    """A label that is written as it was read: all but one that names the tag that stands for none."""
    return None if parts[2] == ANY_TAG else _label(depth, parts)


QUICK_LABEL = Quick(_LABEL, None, _built)


def write_label(node: Node) -> str:
    """The element as WebVoyager writes it."""
    tag = "" if node.role == ANY_TAG else f"<{node.role}> "
    texts = _NEXT.join([node.name or "", *(str(value) for _, value in node.attrs)])
    return f'[{node.bid or ""}]: {tag}"{texts}";'
