"""Reasoning and change in words without a model: only what page, action and next page say.

Templates reason shallowly, and say so: every row that has them is marked `template`.
"""

from collections import Counter
from dataclasses import replace

from dynaweb.axtree.describe import describe_delta
from dynaweb.axtree.tree import Tree, read_tree
from dynaweb.prompts.annotate import Annotation
from dynaweb.prompts.change import ENDED
from dynaweb.records.action import Action
from dynaweb.records.delta import Delta, DeltaKind
from dynaweb.records.observation import Observation
from dynaweb.world.data.keys import labelled

SHOWN = frozenset(
    {"heading", "link", "button", "textbox", "searchbox", "combobox", "checkbox", "radio", "tab"}
)
"""Roles that an outline names."""
MOST_SHOWN = 60
"""Elements in an outline; how many more there are is said."""

_EFFECT = {
    DeltaKind.NONE: "It leaves the page as it is.",
    DeltaKind.LOCAL: "It changes a part of this page and leaves the rest as it is.",
    DeltaKind.FULL_PAGE: "It leads to another page.",
    DeltaKind.NEW_TAB: "It opens another page in a new tab.",
    DeltaKind.TERMINAL: "It ends the episode.",
}


def template_annotation(
    page: Observation, action: Action, delta: Delta, next_page: Observation
) -> Annotation:
    """Reasoning and change of a transition.

    Args:
        page: with what the rules know of the action applied.
        action: what was done.
        delta: the change from that page.
        next_page: gives the outline where the whole page is new.

    Raises:
        DeltaError: the change does not fit the page.
    """
    # what happened is told by the page: some recordings report an error although it changed
    refused = delta.kind is DeltaKind.NONE and bool(delta.error)
    effect = "The page does not let it happen." if refused else _EFFECT[delta.kind]
    told = f"{_holds(read_tree(page.tree), page.title)} The action is {labelled(action, page)}. {effect}"
    changes = describe_delta(page, action, replace(delta, error=""), whole=True)
    if delta.kind in (DeltaKind.FULL_PAGE, DeltaKind.NEW_TAB):
        changes += "\n" + outline(read_tree(next_page.tree))
    return Annotation(
        reasoning=told, changes=ENDED if delta.kind is DeltaKind.TERMINAL else changes
    )


def template_refusal(page: Observation, action: Action, message: str) -> str:
    """Reasoning about an action that the page does not let happen."""
    return f"{_holds(read_tree(page.tree), page.title)} The action is {labelled(action, page)}. It cannot be done: {message}."


def outline(tree: Tree) -> str:
    """The elements of a page that one reads or uses first, in order."""
    named = [n for n in tree if n.role in SHOWN and n.name]
    more = len(named) - MOST_SHOWN
    lines = [f"On it stands: {n.role} {n.name!r}." for n in named[:MOST_SHOWN]]
    return "\n".join([*lines, f"And {more} more elements."] if more > 0 else lines)


def _holds(tree: Tree, title: str) -> str:
    counts = Counter(n.role for n in tree if n.role in SHOWN)
    parts = [f"{role} {n}" for role, n in sorted(counts.items())]
    return f"The page {title!r} has {len(tree)} lines" + (
        f": {', '.join(parts)}." if parts else "."
    )
