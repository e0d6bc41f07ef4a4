"""An action with the name of what it acts on: `click('13') button 'Ok'`.

Agent, world model and judge all read past actions in this form: a bid alone says nothing once the
page has moved on.
"""

from dynaweb.axtree.tree import Node, Tree, quote, read_tree
from dynaweb.records.action import Action, print_action, target_bids
from dynaweb.records.observation import Observation

MAX_NAME_CHARS = 40

_CAPTIONS = ("StaticText", "LabelText", "heading", "label")


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
    """Role and name of an element; empty when it is not on the page."""
    at = next((i for i, node in enumerate(tree) if node.bid == bid), None)
    if at is None:
        return ""
    node = tree[at]
    if node.name:
        return f"{node.role} {_cut(node.name)}"
    hint = _caption_before(tree, at)
    return f"{node.role} after {_cut(hint)}" if hint else node.role


def _caption_before(tree: Tree, at: int) -> str:
    """Text of the nearest caption above; text inside the element itself comes first."""
    for node in _below(tree, at):
        if node.name:
            return node.name
    for node in reversed(tree[1:at]):
        if node.role in _CAPTIONS and node.name:
            return node.name
    return ""


def _below(tree: Tree, at: int) -> list[Node]:
    inside: list[Node] = []
    for node in tree[at + 1 :]:
        if node.depth <= tree[at].depth:
            break
        inside.append(node)
    return inside


def _cut(name: str) -> str:
    return quote(name if len(name) <= MAX_NAME_CHARS else name[: MAX_NAME_CHARS - 1] + "…")
