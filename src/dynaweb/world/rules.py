"""What is known before any model is asked: the gate, and what every browser does by itself.

A rule either *settles* a step (nothing else can change: no model is asked) or does its part of it
*beforehand* (typing sets a value) and leaves the model the question of what else changed. Typing,
ticking and focus are not knowledge about a site: leaving them to a small model was most of its errors
(feasibility run), and they cost tokens. How often a rule was wrong is measured, not assumed:
`bench.rule_check`.

Refuses to guess: a page that is not in the history is the model's to imagine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dynaweb.axtree.gate import check_action
from dynaweb.axtree.label import label_element
from dynaweb.axtree.order import insert_attr
from dynaweb.axtree.tree import (
    AttrValue,
    Node,
    Tree,
    find_element,
    read_tree,
    render_tree,
    subtree_end,
)
from dynaweb.records.action import (
    Action,
    Clear,
    Click,
    Dblclick,
    Fill,
    Focus,
    GoBack,
    GoForward,
    NewTab,
    Noop,
    Press,
    ReportInfeasible,
    Scroll,
    ScrollAt,
    SelectOption,
    SendMsgToUser,
    TabClose,
    TabFocus,
)
from dynaweb.records.observation import Observation
from dynaweb.world.ruled import Ruled as Ruled
from dynaweb.world.travel import travel

FOCUSABLE_ROLES = frozenset(
    {
        "button",
        "link",
        "textbox",
        "searchbox",
        "combobox",
        "listbox",
        "checkbox",
        "radio",
        "spinbutton",
        "slider",
        "switch",
        "Date",
        "DateTime",
        "InputTime",
        "ColorWell",
    }
)
"""Roles that take the keyboard when clicked."""

PASSWORD_DOT = "•"


def apply_rules(history: Sequence[Observation], action: Action) -> Ruled:
    """Do what is known of an action.

    Args:
        history: pages so far, the present one last; at least one.
        action: what the agent did.
    """
    before = history[-1]
    refused = check_action(before, action)
    if refused is not None:
        fault, message = refused
        page = replace(before, last_action_error=message)
        return Ruled(page=page, settled=True, rule="gate", fault=fault)
    page = replace(before, last_action_error="", attachments={})
    match action:
        case SendMsgToUser() | ReportInfeasible():
            return Ruled(page=page, settled=True, rule="answer", terminal=True)
        case Noop():
            return Ruled(page=page, settled=True, rule="wait")
        case Scroll() | ScrollAt():
            return Ruled(page=page, settled=True, rule="scroll")
        case NewTab() | TabFocus() | TabClose() | GoBack() | GoForward():
            return travel(tuple(history), page, action)
        case _:
            return _touch(page, action)


def _touch(page: Observation, action: Action) -> Ruled:
    """Rules about one element: typing, clearing, choosing, ticking, and where the keyboard goes."""
    match action:
        case Fill(bid, value):
            return _typed(page, bid, value)
        case Clear(bid):
            return _typed(page, bid, "")
        case SelectOption(bid, options):
            return _chosen(page, bid, options)
        case Click(bid, "left", ()):
            return _clicked(page, bid)
        case Click(bid) | Dblclick(bid):
            return Ruled(page=_focus(page, bid), settled=False, rule="focus")
        case Focus(bid) | Press(bid, _):
            return Ruled(page=replace(page, focused=bid), settled=False, rule="focus")
        case _:
            return Ruled(page=page, settled=False, rule="")


def _typed(page: Observation, bid: str, value: str) -> Ruled:
    tree = read_tree(page.tree)
    at = _find(tree, bid)
    node = tree[at]
    shown = PASSWORD_DOT * len(value) if is_password(tree, node) else value
    changed = _with_attr(node, "value", shown) if shown else _without_attr(node, "value")
    tree = (*tree[:at], changed, *tree[at + 1 :])
    page = replace(page, tree=render_tree(tree), focused=bid)
    return Ruled(page=page, settled=False, rule="typing", touched=((bid, "value"),))


def is_password(tree: Tree, node: Node) -> bool:
    """Whether the field hides what is typed: it shows dots, or its name or caption says so.

    Chromium's tree does not mark an empty password field, so the caption is the best there is.
    """
    value = node.attr("value")
    if isinstance(value, str) and value:
        return not value.strip(PASSWORD_DOT)
    return node.bid is not None and "password" in label_element(tree, node.bid).lower()


def _chosen(page: Observation, bid: str, options: tuple[str, ...]) -> Ruled:
    """A plain select: the mark on its options, and its value where it shows one."""
    tree = read_tree(page.tree)
    at = _find(tree, bid)
    focused = replace(page, focused=bid)
    inside = range(at + 1, subtree_end(tree, at))
    names = {i: tree[i].name for i in inside if tree[i].role in ("option", "menuitem")}
    several = tree[at].attr("multiselectable") is True
    wanted = options if several else options[:1]
    if not wanted or not set(wanted) <= set(names.values()):
        return Ruled(page=focused, settled=False, rule="focus")
    nodes = list(tree)
    if tree[at].attr("value") is not None and not several:
        nodes[at] = _with_attr(tree[at], "value", wanted[0])
    for i, name in names.items():
        nodes[i] = _marked(tree[i], name in wanted)
    touched = tuple((n.bid or "", "selected") for n in (tree[i] for i in names))
    page = replace(focused, tree=render_tree(tuple(nodes)))
    return Ruled(page=page, settled=False, rule="choosing", touched=((bid, "value"), *touched))


def _marked(option: Node, chosen: bool) -> Node:
    """The mark of the choice."""
    if chosen:
        return _with_attr(option, "selected", "true")
    if option.attr("selected") == "false":
        return option
    return _without_attr(option, "selected")


def _clicked(page: Observation, bid: str) -> Ruled:
    """Where the keyboard goes, and what HTML itself does: a checkbox turns, a radio button is set, an option chosen."""
    tree = read_tree(page.tree)
    at = _find(tree, bid)
    focused = _focus(page, bid)
    match tree[at].role:
        case "checkbox":
            turned = {at: _toggled(tree[at])}
        case "radio" if tree[at].attr("checked") in ("true", "false"):
            turned = _set_radio(tree, at)
        case "option" if (box := _several(tree, at)) is not None:
            turned = {i: _marked(tree[i], i == at) for i in box if tree[i].role == "option"}
            return _turned(focused, tree, turned, "selected", "choosing")
        case _:
            return Ruled(page=focused, settled=False, rule="focus")
    return _turned(focused, tree, turned, "checked", "ticking")


def _turned(
    page: Observation, tree: Tree, turned: Mapping[int, Node], attr: str, rule: str
) -> Ruled:
    nodes = tuple(turned.get(i, node) for i, node in enumerate(tree))
    touched = tuple((node.bid or "", attr) for node in turned.values())
    shown = replace(page, tree=render_tree(nodes))
    return Ruled(page=shown, settled=False, rule=rule, touched=touched)


def _several(tree: Tree, at: int) -> range | None:
    """What is inside the list that shows several options and holds this one; None in a dropdown."""
    for i in range(at - 1, -1, -1):
        if tree[i].depth < tree[at].depth and tree[i].role == "listbox":
            open_list = tree[i].attr("multiselectable") is True and at < subtree_end(tree, i)
            return range(i + 1, subtree_end(tree, i)) if open_list else None
    return None


def _set_radio(tree: Tree, at: int) -> dict[int, Node]:
    """The button set, its neighbours not.

    Buttons at one depth under one element are taken for one group: the tree does not show groups.
    """
    start = end = at
    while start > 0 and tree[start - 1].depth >= tree[at].depth:
        start -= 1
    while end + 1 < len(tree) and tree[end + 1].depth >= tree[at].depth:
        end += 1
    others = (i for i in range(start, end + 1) if i != at and tree[i].depth == tree[at].depth)
    turned = {
        i: _with_attr(tree[i], "checked", "false")
        for i in others
        if tree[i].role == "radio" and tree[i].attr("checked") == "true"
    }
    return turned | {at: _with_attr(tree[at], "checked", "true")}


def _toggled(node: Node) -> Node:
    match node.attr("checked"):
        case "true":
            return _with_attr(node, "checked", "false")
        case True:
            return _without_attr(node, "checked")
        case _:
            return _with_attr(node, "checked", "true")


def _focus(page: Observation, bid: str) -> Observation:
    """The keyboard goes to the nearest element that takes it, from the clicked one outwards."""
    tree = read_tree(page.tree)
    at = _find(tree, bid)
    depth = tree[at].depth + 1
    for node in reversed(tree[: at + 1]):
        if node.depth < depth:
            depth = node.depth
            if node.bid is not None and node.role in FOCUSABLE_ROLES:
                return replace(page, focused=node.bid)
    return replace(page, focused=None)


def _find(tree: Tree, bid: str) -> int:
    """Where the element is; the gate has made sure that it is there."""
    at = find_element(tree, bid)
    assert at is not None
    return at


def _with_attr(node: Node, key: str, value: AttrValue) -> Node:
    return node._replace(attrs=insert_attr(node.attrs, key, value))


def _without_attr(node: Node, key: str) -> Node:
    return node._replace(attrs=tuple((k, v) for k, v in node.attrs if k != key))
