"""What an action changed, as a state change that says only that.

`apply(o, a, diff(o, a, o2)) == o2` for every pair of pages (property-tested), attachments apart.
"""

from dataclasses import replace
from urllib.parse import urldefrag

from dynaweb.axtree.apply import LITERAL, frame
from dynaweb.axtree.edit import WHOLE_PAGE
from dynaweb.axtree.match import Match, match, survivors
from dynaweb.axtree.place import Places, next_bid
from dynaweb.axtree.tree import Node, Tree, find_element, read_tree
from dynaweb.axtree.treediff import TreeDiff, new_line
from dynaweb.axtree.words import Words
from dynaweb.records.action import Action
from dynaweb.records.delta import START, Delta, DeltaKind, Placed, Renumbered
from dynaweb.records.observation import Observation

FULL_PAGE_SHARE = 0.2
"""A change is another page when fewer of the lines of the smaller page survive (ours): a widget that
opens or closes leaves the rest, however big it is."""

FULL_PAGE_SHARE_NEW_URL = 0.5
"""The same where the address changed, fragment apart, and of the larger page: a site's header and
footer may survive (ours)."""


def diff(
    before: Observation, action: Action, after: Observation, *, terminal: bool = False
) -> Delta:
    """The change from one page to the next.

    Args:
        before: the page the action was done on.
        action: gives typed text and the target's name, which the change refers to.
        after: the next page.
        terminal: the episode ended; what is left on screen is not part of the change.
    """
    if terminal:
        return Delta(kind=DeltaKind.TERMINAL)
    old, new = Places(read_tree(before.tree)), Places(read_tree(after.tree))
    pairs = match(old, new)
    kind = page_kind(before, after, old.tree, new.tree, pairs)
    words = Words(old, action)
    if kind in WHOLE_PAGE:
        delta = _whole(kind, new.tree, words)
        origins: Match = [None] * len(new.tree)
    else:
        tree_diff = TreeDiff(old, new.tree, pairs, words)
        delta, origins = tree_diff.delta(), tree_diff.origins
    delta = replace(
        delta,
        renumbered=_renumbered(old.tree, new.tree, origins),
        focus=_focus(before, after, old, new.tree, origins, kind),
        error=after.last_action_error,
    )
    delta = _framed(before, after, new.tree, delta)
    return replace(delta, kind=DeltaKind.NONE) if _is_empty(delta) else delta


def page_kind(
    before: Observation, after: Observation, old: Tree, new: Tree, pairs: Match
) -> DeltaKind:
    """Local, or another page, by what survived; `none` is found out by looking at the change."""
    if len(after.tabs) > len(before.tabs) > 0:
        return DeltaKind.NEW_TAB
    if after.active_tab != before.active_tab or len(after.tabs) != len(before.tabs):
        return DeltaKind.FULL_PAGE
    moved_on = urldefrag(after.url).url != urldefrag(before.url).url
    sizes = (len(old) - 1, len(new) - 1)
    wanted = FULL_PAGE_SHARE_NEW_URL * max(sizes) if moved_on else FULL_PAGE_SHARE * min(sizes)
    return DeltaKind.FULL_PAGE if survivors(old, new, pairs) < wanted else DeltaKind.LOCAL


def without_renumbering(delta: Delta) -> Delta:
    """The form that models learn: `apply` then numbers new elements itself."""
    learned = replace(delta, renumbered=())
    return replace(learned, kind=DeltaKind.NONE) if _is_empty(learned) else learned


def _whole(kind: DeltaKind, new: Tree, words: Words) -> Delta:
    items = tuple([new_line(node, words) for node in new])
    return Delta(kind=kind, placed=(Placed(after=START, items=items),))


def _renumbered(old: Tree, new: Tree, origins: Match) -> tuple[Renumbered, ...]:
    """Where the next page has other bids than `apply` gives: the old ones, and the next free numbers."""
    number = next_bid(old)
    given: list[Node] = []
    for node, origin in zip(new, origins, strict=True):
        if node.bid is None:
            given.append(node)
        elif origin is not None:
            bid = old[origin].bid
            given.append(node if bid == node.bid else node._replace(bid=bid))
        else:
            bid = str(number)
            number += 1
            given.append(node if bid == node.bid else node._replace(bid=bid))
    other = [at for at, node in enumerate(given) if node is not new[at]]
    if not other:
        return ()
    places = Places(tuple(given))
    return tuple([Renumbered(ref=places.ref(at), bid=new[at].bid or "") for at in other])


def _focus(
    before: Observation,
    after: Observation,
    old: Places,
    new: Tree,
    origins: Match,
    kind: DeltaKind,
) -> str | None:
    """The address of what has the keyboard; None where the rest of the change implies it."""
    at = _first(new, after.focused)
    if kind not in WHOLE_PAGE and before.focused is not None:
        was = _first(old.tree, before.focused)
        if was is None:
            if before.focused == after.focused:
                return None
        elif (origins.index(was) if was in origins else None) == at:
            return None if at is not None or after.focused is None else LITERAL + after.focused
    elif after.focused is None:
        return None
    if after.focused is None:
        return ""
    return LITERAL + after.focused if at is None else _address(at, old, new, origins)


def _address(at: int, old: Places, new: Tree, origins: Match) -> str:
    origin = origins[at]
    if origin is not None:
        return old.ref(origin)
    earlier = sum(1 for i in range(at) if origins[i] is None and new[i].bid is not None)
    return f"+{earlier + 1}"


def _first(tree: Tree, bid: str | None) -> int | None:
    return find_element(tree, bid) if bid is not None else None


def _framed(before: Observation, after: Observation, new: Tree, delta: Delta) -> Delta:
    """With address, title, scroll and tabs where they don't follow from the rest."""
    delta = replace(delta, url=after.url if after.url != before.url else None)
    if frame(before, delta, "", new, None).title != after.title:
        delta = replace(delta, title=after.title)
    implied = frame(before, delta, "", new, None)
    return replace(
        delta,
        scroll=after.scroll if implied.scroll != after.scroll else None,
        tabs=after.tabs if implied.tabs != after.tabs else None,
        active_tab=after.active_tab if implied.active_tab != after.active_tab else None,
    )


def _is_empty(delta: Delta) -> bool:
    return delta == Delta(kind=DeltaKind.LOCAL, error=delta.error)
