"""A page that a model wrote, as the next page of this one: the same elements keep their bids, new ones get ours.

A model's numbers are a hint. Elements are paired with those of the page before as `axtree.match` pairs them, the change
between the two is what is applied, and `apply` numbers what is new: so no bid that our page keeps is given away, and none
stands twice (papers F4, F5). What a format cannot say is no change: the page is compared with the page before as that
format shows it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urldefrag, urljoin

from dynaweb.axtree.apply import apply
from dynaweb.axtree.diff import diff, without_renumbering
from dynaweb.axtree.match import Match, is_same, match
from dynaweb.axtree.order import insert_attr
from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import Attrs, AttrValue, Node, Tree, find_element, read_tree, render_tree
from dynaweb.axtree.views.convert import Form, convert, read_page
from dynaweb.errors import DeltaError, TreeError
from dynaweb.records.action import Action, Goto, target_bids
from dynaweb.records.delta import Delta, DeltaKind
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.world.flaws import Flaw, Mend, UnusableReplyError
from dynaweb.world.reading import MARKUP, ReadPage
from dynaweb.world.ruled import Ruled

FOCUSED = "focused"
"""The flag that shows a model which element has the keyboard; our trees have it as a field of the page."""

UNKNOWN_ADDRESS = "#dreamt-"
"""Begins the fragment of an address that a model did not say: another page opened, so there is a way back, and its place is the
page it was opened from."""

EXACT = frozenset({Form.DYNAWEB}) | MARKUP
"""Formats that say everything."""

MOSTLY = 0.5
"""Share of elements from which a reply's habit is taken for its way of writing, not for what happened (ours)."""

_TEXTS = frozenset({"StaticText", "InlineTextBox", "LabelText"})

_STATES = frozenset({"checked", "pressed", "selected", "expanded"})
"""Attributes whose values are words, `'true'` and `'false'`; other truths are flags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """A next page."""

    page: Observation
    delta: Delta
    """From the page after the rules."""
    mends: frozenset[Mend] = frozenset()


def shown_tree(page: Observation) -> Tree:
    """The page's lines with the flag of focus, as a model is shown them."""
    tree = read_tree(page.tree)
    at = None if page.focused is None or has_focus(tree) else find_element(tree, page.focused)
    if at is None:
        return tree
    node = tree[at]._replace(attrs=(*tree[at].attrs, (FOCUSED, None)))
    return (*tree[:at], node, *tree[at + 1 :])


@lru_cache(maxsize=512)
def shown_text(tree: str, focused: str | None, view: Form) -> str:
    """The page in a format; pages of an episode come again in every later question."""
    page = Observation(url="", title="", tree=tree, focused=focused)
    return convert(shown_tree(page), view).text


def has_focus(tree: Tree) -> bool:
    """Whether the lines themselves show the focus, as some tools write them."""
    return any(node.attr(FOCUSED) is not None for node in tree)


def land(raw: Observation, ruled: Ruled, action: Action, read: ReadPage) -> Landed:
    """The next page, from what a reply shows.

    Args:
        raw: the page the action was done on.
        ruled: what the rules made of it; the change is counted from there.
        action: what was done.
        read: the reply's page; not the end.

    Raises:
        UnusableReplyError: it ends in the middle of the page that it copies, or fits no page.
    """
    before = ruled.page
    old = read_tree(before.tree)
    base = _as_format_shows(old, read.form)
    tree, focused = _without_focus(read, old)
    twice = [b for b, n in Counter(n.bid for n in tree).items() if b is not None and n > 1]
    mends = {Mend.DUPLICATE_BIDS} if twice else set[Mend]()
    tree, restored = _with_bids(base, tree)
    mends |= {Mend.BIDS_RESTORED} if restored else set()
    pairs = match(Places(base), Places(tree))
    if is_cut_off(base, tree, pairs):
        raise UnusableReplyError(Flaw.CUT_OFF)
    tree, ruled_again = _with_rules(read_tree(raw.tree), old, tree, pairs, ruled)
    mends |= {Mend.RULE_RESTORED} if ruled_again else set()
    delta = _change(before, base, action, tree, focused, read.url)
    return Landed(page=_applied(before, base, action, delta), delta=delta, mends=frozenset(mends))


def _change(
    before: Observation,
    base: Tree,
    action: Action,
    tree: Tree,
    focused: str | None,
    url: str | None,
) -> Delta:
    """The change from the page before, as its format shows it, to the lines of the reply."""
    shown = replace(before, tree=render_tree(base), attachments={}, last_action_error="")
    shown = shown if focused is not None else replace(shown, focused=None)
    after = replace(
        shown, tree=render_tree(tree), focused=focused, title=_title(before, base, tree)
    )
    said = url or (action.url if isinstance(action, Goto) else None)
    if said is not None:
        after = _moved(shown, after, urljoin(before.url, said))
    delta = without_renumbering(diff(shown, action, after))
    if said is None and delta.kind is DeltaKind.FULL_PAGE:
        place = _linked(before, action) or _unknown_address(before.url, after.tree)
        delta = without_renumbering(diff(shown, action, _moved(shown, after, place)))
    return delta


def _moved(before: Observation, after: Observation, url: str) -> Observation:
    """At another address, which goes onto the tab's history."""
    tabs = after.tabs
    if url != before.url and 0 <= after.active_tab < len(tabs):
        tab = tabs[after.active_tab]
        tab = replace(tab, url=url, title=after.title, back=(*tab.back, before.url), forward=())
        tabs = (*tabs[: after.active_tab], tab, *tabs[after.active_tab + 1 :])
    return replace(after, url=url, tabs=tabs, scroll=(0, 0))


def _applied(before: Observation, base: Tree, action: Action, delta: Delta) -> Observation:
    for page in (before, replace(before, tree=render_tree(base))):
        try:
            return apply(page, action, delta)
        except DeltaError:
            continue
    raise UnusableReplyError(Flaw.NOT_A_PAGE)


def _title(before: Observation, base: Tree, tree: Tree) -> str:
    """What the root is called, where that changed."""
    was, now = base[0].name, tree[0].name
    return now if now is not None and tree[0].role == base[0].role and now != was else before.title


def _linked(page: Observation, action: Action) -> str | None:
    """Where the element leads that was acted on, if the page shows it."""
    tree = read_tree(page.tree)
    bids = target_bids(action)
    at = find_element(tree, bids[0]) if bids else None
    url = tree[at].attr("url") if at is not None else None
    return urljoin(page.url, url) if isinstance(url, str) and url else None


def _unknown_address(url: str, tree: str) -> str:
    return f"{urldefrag(url).url}{UNKNOWN_ADDRESS}{derive_seed(0, tree) % 16**8:08x}"


def _as_format_shows(old: Tree, form: Form) -> Tree:
    """The page before as the format gives it back, line for line; itself where it cannot."""
    if form in EXACT:
        return old
    try:
        back = _spelt(read_page(convert(old, form).text, form), old)
    except (TreeError, DeltaError):
        return old
    same = len(back) == len(old) and all(
        a.bid == b.bid and a.role == b.role for a, b in zip(old, back, strict=True)
    )
    return back if same else old


def _spelt(tree: Tree, like: Tree) -> Tree:
    """Truths as the page before writes them: `True`, `'true'` or a flag; in our dialect's way where it has none."""
    bare = any(isinstance(value, bool) for node in like for _, value in node.attrs)
    habit: dict[str, AttrValue] = {}
    for node in like:
        for key, value in node.attrs:
            if value is None or isinstance(value, bool) or value in ("true", "false"):
                habit.setdefault(key, value)
    return tuple(
        n._replace(attrs=tuple(_truths(n.attrs, habit, bare=bare))) if n.attrs else n for n in tree
    )


def _truths(
    attrs: Attrs, habit: Mapping[str, AttrValue], *, bare: bool
) -> Iterator[tuple[str, AttrValue]]:
    for key, value in attrs:
        kind = habit.get(key, True if bare else "true" if key in _STATES else None)
        if not isinstance(value, bool) or isinstance(kind, bool):
            yield key, value
        elif kind is not None:
            yield key, "true" if value else "false"
        elif value:
            yield key, None


def _without_focus(read: ReadPage, old: Tree) -> tuple[Tree, str | None]:
    """The lines without the flag of focus, and the bid of the element that had it."""
    tree = read.tree if read.form in EXACT else _spelt(read.tree, old)
    if has_focus(old):
        return tree, None
    flags = [n for n in tree if n.attr(FOCUSED) in (True, "true")]
    bare = tuple(n._replace(attrs=tuple(a for a in n.attrs if a[0] != FOCUSED)) for n in tree)
    return bare, flags[0].bid if flags else None


def _with_bids(old: Tree, new: Tree) -> tuple[Tree, bool]:
    """With and without a bid as on the page before, where a reply goes another way with most lines that it keeps.

    Other tools number text, and some models leave numbers out: neither makes an element another one.
    """
    bare_old, bare_new = (tuple(n._replace(bid=None) for n in tree) for tree in (old, new))
    pairs = [
        (i, j)
        for i, j in enumerate(match(Places(bare_old), Places(bare_new)))
        if i and j is not None and is_same(bare_old[i], bare_new[j])
    ]
    nodes = list(new)
    for had in (True, False):
        alike = [
            (i, j)
            for i, j in pairs
            if (old[i].bid is not None) == had and (had or old[i].role in _TEXTS)
        ]
        other = [(i, j) for i, j in alike if (new[j].bid is not None) != had]
        if len(other) > MOSTLY * len(alike):
            for i, j in other:
                nodes[j] = new[j]._replace(bid=old[i].bid)
    changed = tuple(nodes)
    return changed, changed != new


def is_cut_off(old: Tree, new: Tree, pairs: Match) -> bool:
    """Whether the new page is the beginning of the old one and stops where no element ends.

    What goes away at the end of a page is usually one element with all it holds (a dialog); a copy that stops anywhere loses
    parts of several. A copy that happens to stop between two elements is not to be told from a change.
    """
    kept = [i for i, j in enumerate(pairs) if j is not None]
    m = len(kept)
    if m < len(new) or m == len(old) or m == 0 or kept != list(range(m)):
        return False
    tail = old[m:]
    return min(n.depth for n in tail) < tail[0].depth


def _with_rules(raw: Tree, old: Tree, new: Tree, pairs: Match, ruled: Ruled) -> tuple[Tree, bool]:
    """What a rule did and the reply shows undone is done; what it shows as a third thing stays: the page's own doing."""
    nodes = list(new)
    for bid, key in ruled.touched:
        was, at = find_element(raw, bid), find_element(old, bid)
        j = None if at is None else pairs[at]
        if was is None or at is None or j is None:
            continue
        before, wanted, shown = (n.attr(key) for n in (raw[was], old[at], nodes[j]))
        if shown == before and _is_on(shown) != _is_on(wanted):
            nodes[j] = _with(nodes[j], key, old[at])
    changed = tuple(nodes)
    return changed, changed != new


def _is_on(value: AttrValue) -> AttrValue:
    """A state or value; every way of saying no is one."""
    return None if value in (False, "false", "") else value


def _with(node: Node, key: str, like: Node) -> Node:
    found = [value for k, value in like.attrs if k == key]
    if not found:
        return node._replace(attrs=tuple(a for a in node.attrs if a[0] != key))
    return node._replace(attrs=insert_attr(node.attrs, key, found[0]))
