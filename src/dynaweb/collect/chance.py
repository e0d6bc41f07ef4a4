"""Actions by chance: what could be done on this page, and near misses of what should be."""

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from dynaweb.axtree.gate import EDITABLE_ROLES, OPTION_ROLES
from dynaweb.axtree.tree import Node, Tree
from dynaweb.collect.page import inside, said
from dynaweb.records.action import (
    Action,
    Clear,
    Click,
    Dblclick,
    Fill,
    Focus,
    GoBack,
    Hover,
    Noop,
    Press,
    Scroll,
    SelectOption,
    target_bids,
)

WORDS = ("hello", "test", "42", "abc", "blue", "Anna", "2017", "lorem", "yes", "7")
"""Typed when neither goal nor page offers a word."""

KEYS = ("Enter", "Tab", "Escape", "ArrowDown", "ArrowUp", "ArrowRight", "Backspace", "End", "Home")

_STILL = ("heading", "cell", "rowheader", "columnheader", "row", "table", "list", "tabpanel")


def random_action(goal: str, tree: Tree, rng: Random, invalid_fraction: float) -> Action:
    """Something that could be done here.

    Args:
        goal: text to type comes from it, mostly.
        tree: the page.
        rng: where chance comes from.
        invalid_fraction: how often the action cannot work, in [0, 1]: a world model must learn
            what a page says to that.
    """
    nodes = [n for n in tree if n.bid is not None]
    if not nodes or rng.random() < 0.02:
        return rng.choice((Noop(500.0), Scroll(0.0, 120.0), GoBack()))
    if rng.random() < invalid_fraction:
        return _impossible(goal, tree, nodes, rng)
    node = rng.choices(nodes, weights=[_weight(n) for n in nodes])[0]
    bid = str(node.bid)
    if rng.random() < 0.08:
        return rng.choice((Hover(bid), Dblclick(bid), Focus(bid), Press(bid, rng.choice(KEYS))))
    if options := _options(tree, node):
        return SelectOption(bid, (rng.choice(options),))
    if node.role in EDITABLE_ROLES and node.attr("readonly") is None:
        if node.attr("value") and rng.random() < 0.1:
            return Clear(bid)
        return Click(bid) if rng.random() < 0.15 else Fill(bid, some_text(goal, tree, node, rng))
    return Click(bid)


def _weight(node: Node) -> float:
    if node.attr("disabled") is not None:
        return 0.1
    if (node.role in _STILL and node.attr("clickable") is None) or node.role == "option":
        return 0.15
    if node.role in EDITABLE_ROLES:
        return 3.0
    # a button often ends the episode: rarer, so that attempts get somewhere first
    return 1.0 if node.role == "button" else 2.0


def _options(tree: Tree, node: Node) -> list[str]:
    if node.role not in ("combobox", "listbox"):
        return []
    return [said(n) for n in inside(tree, node) if n.role in OPTION_ROLES and said(n)]


def some_text(goal: str, tree: Tree, node: Node, rng: Random) -> str:
    """Something to type: from the goal, mostly; in the form that the field takes."""
    if node.role in ("Date", "DateTime"):
        return f"{rng.randint(2010, 2019)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    if node.role == "InputTime":
        return f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}"
    if node.role == "spinbutton":
        return str(rng.randint(-10, 10))
    quoted = re.findall(r'"([^"]+)"', goal)
    if quoted and rng.random() < 0.6:
        return str(rng.choice(quoted))
    words = re.findall(r"[\w@.-]+", goal)
    if rng.random() < 0.3:
        words = [w for n in tree for w in said(n).split()]
    return str(rng.choice(words)).strip(".") if words and rng.random() < 0.8 else rng.choice(WORDS)


def _impossible(goal: str, tree: Tree, nodes: Sequence[Node], rng: Random) -> Action:
    """Something that this page refuses."""
    kind = rng.randrange(3)
    fixed = [n for n in nodes if n.role not in EDITABLE_ROLES]
    lists = [n for n in nodes if _options(tree, n)]
    if kind == 0 and fixed:
        node = rng.choice(fixed)
        return Fill(str(node.bid), some_text(goal, tree, node, rng))
    if kind == 1 and lists:
        return SelectOption(str(rng.choice(lists).bid), (rng.choice(WORDS),))
    highest = max((int(n.bid) for n in nodes if n.bid and n.bid.isdigit()), default=0)
    return Click(str(highest + rng.randint(1, 20)))


def near_miss(action: Action, tree: Tree, rng: Random) -> Action | None:
    """The right thing done slightly wrong; None when this action has no near miss.

    The text is miscopied, another option is chosen, or a sibling of the element is taken.
    """
    bids = target_bids(action)
    node = next((n for n in tree if bids and n.bid == bids[0]), None)
    if node is None:
        return None
    if isinstance(action, Fill) and action.value and rng.random() < 0.6:
        return Fill(action.bid, miscopied(action.value, rng))
    if isinstance(action, SelectOption):
        others = [o for o in _options(tree, node) if o not in action.options]
        return SelectOption(action.bid, (rng.choice(others),)) if others else None
    siblings = [n for n in tree if n.bid and n.role == node.role and n.bid != node.bid]
    if not siblings or not isinstance(action, Click | Fill | Hover | Press):
        return None
    return replace(action, bid=str(rng.choice(siblings).bid))


def miscopied(text: str, rng: Random) -> str:
    """The text with one slip in it, as a model that copies letter by letter makes them."""
    if not text:
        return rng.choice(WORDS)
    at = rng.randrange(len(text))
    slips = [
        text[:at] + text[at + 1 :],
        text[: at + 1] + text[at:],
        text[:at] + text[at + 1 : at + 2] + text[at] + text[at + 2 :],
        text[:at] + rng.choice("abcdefghijklmnopqrstuvwxyz0123456789") + text[at + 1 :],
        text.swapcase(),
        text[:at] or text + text[-1],
        text.split(" ")[0],
    ]
    changed = [s for s in slips if s not in (text, "")]
    return rng.choice(changed) if changed else text + text[-1]


def misread(goal: str, tree: Tree, rng: Random) -> str:
    """Another goal that this page could have: a name, a place or a text is taken for another.

    Who follows it does everything neatly, and the wrong thing.
    """
    swaps = _names(goal, tree)
    for found in re.finditer(r'"([^"]+)"', goal):
        swaps.append((found[1], miscopied(found[1], rng)))
    for old in re.findall(r"\b(?:1st|2nd|3rd|4th|5th)\b", goal):
        swaps += [(old, new) for new in ("1st", "2nd", "3rd") if new != old]
    for old in re.findall(r"(?<![\w/])-?\d+(?![\w/])", goal):
        swaps.append((old, str(int(old) + rng.choice((-2, -1, 1, 2)))))
    if not swaps:
        return goal
    old, new = rng.choice(swaps)
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, goal, count=1)


def _names(goal: str, tree: Tree) -> list[tuple[str, str]]:
    """Names that the goal says, each with those that stand beside it on the page."""
    by_role: dict[str, list[str]] = {}
    for n in tree[1:]:
        if said(n):
            by_role.setdefault(n.role, []).append(said(n))
    swaps: list[tuple[str, str]] = []
    for names in by_role.values():
        asked = [n for n in names if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", goal)]
        others = [n for n in names if n not in asked]
        swaps += [(a, o) for a in asked for o in others]
    return swaps
