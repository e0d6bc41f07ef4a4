"""The next page from a page, an action and a state change, by plain code.

The same change always gives the same page, lines that were not changed stay byte for byte, and no
model is asked (papers F20).
`apply(o, a, diff(o, a, o2)) == o2`, attachments apart: an imagined page has no screenshot.
"""

from dataclasses import dataclass, replace

from dynaweb.axtree.edit import WHOLE_PAGE, Edited, edit
from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import Tree, find_element, read_tree, render_node
from dynaweb.errors import DeltaError
from dynaweb.records.action import Action
from dynaweb.records.delta import Delta, DeltaKind
from dynaweb.records.observation import Observation, Tab

LITERAL = "="
"""In `focus`: what follows is taken as it is, an element that the page does not show."""


def apply(observation: Observation, action: Action, delta: Delta) -> Observation:
    """The page that the change leads to; the same page where the episode ended.

    Raises:
        DeltaError: the change does not fit this page.
    """
    if delta.kind is DeltaKind.TERMINAL:
        return replace(observation, last_action_error=delta.error, attachments={})
    places = Places(read_tree(observation.tree))
    edited = edit(places, action, delta)
    final = renumber(edited.tree, delta)
    focused = _focused(observation, places, edited, final, delta)
    text = _written(observation.tree, places.tree, edited, final)
    return frame(observation, delta, text, final, focused)


def _written(old_text: str, old: Tree, edited: Edited, final: Tree) -> str:
    """The text of the next page; lines that are the same node are copied."""
    lines = old_text.split("\n")
    return "\n".join(
        [
            lines[at] if at is not None and node is old[at] else render_node(node)
            for node, at in zip(final, edited.origins, strict=True)
        ]
    )


def renumber(tree: Tree, delta: Delta) -> Tree:
    """The page with the bids that the change gives it.

    Raises:
        DeltaError: an address that is not there, or of a line that cannot have a bid.
    """
    if not delta.renumbered:
        return tree
    places = Places(tree)
    nodes = list(tree)
    for r in delta.renumbered:
        at = places.find(r.ref)
        if at < 0 or nodes[at].bid is None or not (r.bid.isascii() and r.bid.isalnum()):
            raise DeltaError(f"{r.ref!r} cannot be renumbered {r.bid[:40]!r}")
        nodes[at] = nodes[at]._replace(bid=r.bid)
    return tuple(nodes)


def _focused(
    observation: Observation, places: Places, edited: Edited, final: Tree, delta: Delta
) -> str | None:
    wanted = delta.focus
    if wanted is None:
        return _kept_focus(observation, places, edited, final, delta)
    if wanted == "":
        return None
    if wanted.startswith(LITERAL):
        return wanted[1:]
    if wanted.startswith("+"):
        new = [
            i
            for i, origin in enumerate(edited.origins)
            if origin is None and final[i].bid is not None
        ]
        number = int(wanted[1:]) if wanted[1:].isdecimal() and len(wanted) < 10 else 0
        if not 1 <= number <= len(new):
            raise DeltaError(f"focus {wanted[:40]!r}: there are {len(new)} new elements with a bid")
        return final[new[number - 1]].bid
    old = places.find(wanted)
    at = edited.origins.index(old) if old in edited.origins else None
    if at is None or final[at].bid is None:
        raise DeltaError(f"focus {wanted[:40]!r} is no element of the next page")
    return final[at].bid


def _kept_focus(
    observation: Observation, places: Places, edited: Edited, final: Tree, delta: Delta
) -> str | None:
    """Where the keyboard is when the change does not say: on the same element, if it is still there."""
    if delta.kind in WHOLE_PAGE or observation.focused is None:
        return None
    old = find_element(places.tree, observation.focused)
    if old is None:
        return observation.focused
    return final[edited.origins.index(old)].bid if old in edited.origins else None


@dataclass(frozen=True, slots=True)
class _Address:
    url: str
    title: str


def frame(
    observation: Observation, delta: Delta, text: str, tree: Tree, focused: str | None
) -> Observation:
    """The observation around a next tree: what the change says, and what follows from it.

    Raises:
        DeltaError: the active tab is not among the tabs.
    """
    whole = delta.kind in WHOLE_PAGE
    here = _Address(
        url=observation.url if delta.url is None else delta.url,
        title=delta.title if delta.title is not None else implied_title(observation, tree, whole),
    )
    tabs, active = implied_tabs(
        observation, here.url, here.title, new_tab=delta.kind is DeltaKind.NEW_TAB
    )
    return Observation(
        url=here.url,
        title=here.title,
        tree=text,
        tabs=tabs if delta.tabs is None else delta.tabs,
        active_tab=active if delta.active_tab is None else delta.active_tab,
        scroll=delta.scroll
        if delta.scroll is not None
        else (0, 0)
        if whole
        else observation.scroll,
        focused=focused,
        last_action_error=delta.error,
    )


def implied_title(observation: Observation, tree: Tree, whole: bool) -> str:
    """A whole new page is called what its root is called."""
    if whole and tree and tree[0].role and tree[0].name is not None:
        return tree[0].name
    return observation.title


def implied_tabs(
    observation: Observation, url: str, title: str, *, new_tab: bool
) -> tuple[tuple[Tab, ...], int]:
    """Tabs and the active one, when the change says nothing of them.

    Another address goes onto the active tab's history; a new tab is added at the end and active.
    """
    tabs, active = observation.tabs, observation.active_tab
    if new_tab:
        return (*tabs, Tab(url=url, title=title)), len(tabs)
    if not 0 <= active < len(tabs):
        return tabs, active
    tab = tabs[active]
    if url != observation.url:
        tab = Tab(url=url, title=title, back=(*tab.back, observation.url))
    elif title != observation.title:
        tab = replace(tab, title=title)
    return (*tabs[:active], tab, *tabs[active + 1 :]), active
