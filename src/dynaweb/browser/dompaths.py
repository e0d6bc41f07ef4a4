"""One name for one element of a document, whoever looks at it: the tags that lead to it, each with its number among its like.

Pure. Reads the form of DevTools' `DOMSnapshot.captureSnapshot`, which other tools keep too.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

ELEMENT = 1


def element_paths(
    nodes: Mapping[str, object], strings: Sequence[str], without: frozenset[str] = frozenset()
) -> list[str]:
    """Paths of a document's nodes, in their order; empty for what is no element or is skipped.

    Args:
        nodes: `nodes` of one document of a snapshot.
        strings: the snapshot's texts.
        without: ids of elements that are skipped with all that is in them, and not counted.

    Example:
        "html1>body1>div2>button1"
    """
    kinds = cast("list[int]", nodes["nodeType"])
    names = cast("list[int]", nodes["nodeName"])
    parents = cast("list[int]", nodes["parentIndex"])
    found: list[str] = []
    inside: list[bool] = []
    seen: Counter[tuple[int, str]] = Counter()
    for at, parent in enumerate(parents):
        attributes = attributes_of(nodes, strings, at)
        inside.append(attributes.get("id") in without or (parent >= 0 and inside[parent]))
        if kinds[at] != ELEMENT or inside[at]:
            found.append("")
            continue
        tag = strings[names[at]].lower()
        seen[parent, tag] += 1
        above = found[parent] if parent >= 0 else ""
        found.append(f"{above}>{tag}{seen[parent, tag]}".lstrip(">"))
    return found


def attributes_of(nodes: Mapping[str, object], strings: Sequence[str], at: int) -> dict[str, str]:
    """What is written on a node of the snapshot."""
    flat = cast("list[list[int]]", nodes["attributes"])[at]
    return {
        strings[key]: strings[value] if value >= 0 else ""
        for key, value in zip(flat[::2], flat[1::2], strict=True)
    }
