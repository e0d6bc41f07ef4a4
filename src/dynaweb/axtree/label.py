"""An action with the name of what it acts on: `click('13') button 'Ok'`.

Agent, world model and judge all read past actions in this form: a bid alone says nothing once the
page has moved on.
"""

from dynaweb.axtree.tree import Tree, find_element, quote, read_tree, subtree_end
from dynaweb.records.action import Action, print_action, target_bids
from dynaweb.records.observation import Observation

MAX_NAME_CHARS = 40

_CAPTIONS = frozenset(
    {
        "StaticText",
        "LabelText",
        "heading",
        "label",
        "legend",
        "term",
        "rowheader",
        "columnheader",
        "cell",
        "gridcell",
    }
)
_CHOICES = frozenset({"combobox", "listbox"})
"""What stands inside them is what they offer, not what they are called."""

_MOST_GROUPS = 8
"""Groups around an element that are looked at: a page may be thousands of levels deep."""


def label_action(action: Action, observation: Observation) -> str:
    """The action and the role and name of every element it addresses, on one line.

    An element without a name is described by the nearest text before it (MiniWoB fields are often
    unnamed): `fill('5', 'bob') textbox after 'Username'`. An element that is not on the page adds
    nothing.
    """
    bids = target_bids(action)
    if not bids:
        return print_action(action)
    tree = read_tree(observation.tree)
    labels = [text for bid in bids if (text := label_element(tree, bid))]
    return " ".join([print_action(action), " to ".join(labels)]) if labels else print_action(action)


def label_element(tree: Tree, bid: str) -> str:
    """Role and name of an element; empty when it is not on the page.

    Where several elements share both, the text of the group it stands in tells it from the others:
    `image 'star' in 'Rosita'`.
    """
    at = find_element(tree, bid)
    if at is None:
        return ""
    node = tree[at]
    if node.name:
        group = _group_of(tree, at)
        return f"{node.role} {_cut(node.name)}" + (f" in {_cut(group)}" if group else "")
    hint = _caption_before(tree, at)
    return f"{node.role} after {_cut(hint)}" if hint else node.role


def _caption_before(tree: Tree, at: int) -> str:
    """Text of the nearest caption above; text inside the element itself comes first."""
    if tree[at].role not in _CHOICES:
        for node in tree[at + 1 : subtree_end(tree, at)]:
            if node.name:
                return node.name
    for node in reversed(tree[1:at]):
        if node.role in _CAPTIONS and node.name:
            return node.name
    return ""


def _group_of(tree: Tree, at: int) -> str:
    """First text of the smallest group around an element that holds none of its namesakes; empty without one."""
    node = tree[at]
    same = [i for i, n in enumerate(tree) if (n.role, n.name) == (node.role, node.name)]
    if len(same) < 2:
        return ""
    depth, around = node.depth, 0
    for i in range(at - 1, 0, -1):
        if tree[i].depth >= depth:
            continue
        depth, around = tree[i].depth, around + 1
        if around > _MOST_GROUPS:
            return ""
        end = subtree_end(tree, i)
        if any(i < j < end for j in same if j != at):
            return ""
        for inside in tree[i:end]:
            if inside.name and inside.name != node.name and inside.role in _CAPTIONS:
                return inside.name
    return ""


def _cut(name: str) -> str:
    return quote(name if len(name) <= MAX_NAME_CHARS else name[: MAX_NAME_CHARS - 1] + "…")
