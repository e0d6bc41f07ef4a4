"""Node by node: every element that BrowserGym gives a bid to, looked up in our observation of the same page.

Elements are matched by where they stand in the document, never by what they are called. BrowserGym takes the frame
around a MiniWoB++ task out of the document and we hide it, so it is skipped on both sides.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import cast

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.axtree.dialects.read import read_document
from dynaweb.axtree.tree import Node, read_tree
from dynaweb.bench.live.results import Difference, Sight
from dynaweb.browser.dompaths import attributes_of, element_paths
from dynaweb.browser.flatten import CONTROLS

FURNITURE = frozenset({"reward-display", "click-canvas", "sync-task-cover", "query"})
"""Ids of what surrounds a MiniWoB++ task."""
MAX_EXAMPLE = 160
PART = "part under the bid of its"
"""Kind of difference; one of those that are counted all the same."""


def rival_places(dom: Mapping[str, object]) -> dict[str, str]:
    """Where the elements stand that BrowserGym has marked: bid -> path."""
    nodes = cast("dict[str, object]", dom["nodes"])
    strings = cast("list[str]", dom["strings"])
    found: dict[str, str] = {}
    for at, path in enumerate(element_paths(nodes, strings, FURNITURE)):
        bid = attributes_of(nodes, strings, at).get("bid") if path else None
        if bid:
            found[bid] = path
    return found


def compare_pages(
    task: str,
    theirs: str,
    their_places: Mapping[str, str],
    ours: str,
    our_places: Mapping[str, str],
) -> Sight:
    """One page as both show it.

    Args:
        task: named in examples.
        theirs: BrowserGym's text.
        their_places: bid -> path.
        ours: our text.
        our_places: bid -> path.
    """
    mine = {our_places[n.bid]: n for n in read_tree(ours) if n.bid and n.bid in our_places}
    kinds: Counter[str] = Counter()
    examples: dict[str, str] = {}
    elements = same = controls = controls_same = 0
    owners: dict[str, Node] = {}
    for node in read_document(theirs, Dialect.BROWSERGYM).nodes:
        path = their_places.get(node.bid or "")
        if path is None or node.bid is None:
            continue
        owner = owners.setdefault(node.bid, node)
        kind = _difference(node, mine.get(path))
        if (
            kind and owner is not node
        ):  # what the browser draws inside a field is no element, and has the bid of the field
            kind = f"{PART} {owner.role}: {node.role}"
        elements += 1
        same += not kind
        if node.role in CONTROLS:
            controls += 1
            controls_same += not kind
        if kind:
            kinds[kind] += 1
            examples.setdefault(kind, _example(task, node, mine.get(path)))
    return Sight(
        pages=1,
        elements=elements,
        same=same,
        controls=controls,
        controls_same=controls_same,
        differences=tuple(
            Difference(kind=k, count=n, example=examples[k]) for k, n in kinds.most_common()
        ),
    )


def add_up(sights: Iterable[Sight]) -> Sight:
    """Several pages as one; differences by count, most frequent first."""
    seen = list(sights)
    kinds: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for difference in (d for s in seen for d in s.differences):
        kinds[difference.kind] += difference.count
        examples.setdefault(difference.kind, difference.example)
    return Sight(
        pages=sum(s.pages for s in seen),
        elements=sum(s.elements for s in seen),
        same=sum(s.same for s in seen),
        controls=sum(s.controls for s in seen),
        controls_same=sum(s.controls_same for s in seen),
        differences=tuple(
            Difference(kind=k, count=n, example=examples[k]) for k, n in kinds.most_common()
        ),
    )


def _difference(theirs: Node, ours: Node | None) -> str:
    """Its kind; empty when there is none."""
    name = theirs.name or ""
    named = "named" if name.strip() else "unnamed"
    if ours is None:
        return f"not shown by us: {named} {theirs.role}"
    if ours.role != theirs.role:
        return f"other role: {theirs.role} is {ours.role}"
    if (ours.name or "") == name:
        return ""
    if ours.name == " ".join(name.split()):
        return f"name of {theirs.role}: white space"
    if not name.strip():
        return f"name of {theirs.role}: only we give one"
    return f"name of {theirs.role}: another"


def _example(task: str, theirs: Node, ours: Node | None) -> str:
    mine = "nothing" if ours is None else f"{ours.role} {ours.name!r}"
    return f"{task}: {theirs.role} {theirs.name!r} / {mine}"[:MAX_EXAMPLE]
