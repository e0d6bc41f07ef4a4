"""What to do on a page: an action that it offers, by chance, and rather one that was not done there before (WebWorld 3.2)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from urllib.parse import urldefrag

from dynaweb.axtree.gate import EDITABLE_ROLES, OPTION_ROLES, check_action
from dynaweb.axtree.label import label_element
from dynaweb.axtree.tree import Node, Tree, read_tree
from dynaweb.collect.crawl.plausible import plausible_text
from dynaweb.collect.page import inside, said
from dynaweb.records.action import (
    Action,
    Clear,
    Click,
    Fill,
    GoBack,
    GoForward,
    Goto,
    Hover,
    NewTab,
    Noop,
    Press,
    Scroll,
    SelectOption,
    TabClose,
    TabFocus,
    action_name,
)
from dynaweb.records.observation import Observation

WEIGHTS = {
    "link": 2.0, "button": 2.5, "textbox": 3.0, "searchbox": 3.0, "combobox": 3.0, "listbox": 3.0, "spinbutton": 2.0,
    "checkbox": 2.0, "radio": 2.0, "switch": 2.0, "tab": 2.0, "menuitem": 1.5, "treeitem": 1.5, "slider": 1.5,
    "Date": 2.0, "DateTime": 2.0, "InputTime": 2.0, "ColorWell": 2.0, "option": 0.0, "DisclosureTriangle": 2.0,
}  # fmt: skip
"""By role; what else is clickable has `CLICKABLE`."""
CLICKABLE = 0.7
BLANK = "about:blank"
TRIES = 8
"""Draws before an action that the page refuses is given up for scrolling."""


Deed = tuple[str, str, str]
"""Address without its fragment, kind of action, and what its element says."""


class Memory:
    """What was done where, by all workers of a crawl: an action counts by its kind and by what its element says."""

    def __init__(self, noted: list[Deed] | None = None) -> None:
        """Nothing yet.

        Args:
            noted: takes what is noted here, for workers elsewhere.
        """
        self._done: Counter[Deed] = Counter()
        self._noted = noted

    def freshness(self, page: Observation, kind: str, label: str) -> float:
        """1 for what was never done on this address, less each time, in (0, 1]."""
        return 1.0 / (1.0 + self._done[urldefrag(page.url).url, kind, label]) ** 2

    def note(self, page: Observation, kind: str, label: str) -> None:
        """It is being done."""
        deed = (urldefrag(page.url).url, kind, label)
        self.learn([deed])
        if self._noted is not None:
            self._noted.append(deed)

    def learn(self, deeds: Iterable[Deed]) -> None:
        """They were done, by whoever."""
        self._done.update(deeds)


def choose_action(page: Observation, past: Sequence[Action | None], rng: Random, memory: Memory) -> Action:  # fmt: skip
    """An action that the page's text allows.

    Args:
        page: where we are.
        past: what was done before, oldest first.
        rng: where chance comes from.
        memory: shared; the choice is noted there.
    """
    tree = read_tree(page.tree)
    for _ in range(TRIES):
        action, label = _draw(page, tree, past, rng, memory)
        if check_action(page, action) is None:
            memory.note(page, action_name(type(action)), label)
            return action
    return Scroll(0.0, 400.0)


def _draw(
    page: Observation, tree: Tree, past: Sequence[Action | None], rng: Random, memory: Memory
) -> tuple[Action, str]:
    other = _without_element(page, tree, past, rng)
    if other is not None:
        return other, ""
    nodes = [n for n in tree if n.bid is not None and n.attr("disabled") is None]
    labels = [_label(tree, n) for n in nodes]
    weights = [
        _weight(n) * memory.freshness(page, _kind(n), label)
        for n, label in zip(nodes, labels, strict=True)
    ]
    if not any(weights):
        return rng.choice((Scroll(0.0, 400.0), Noop(500.0))), ""
    at = rng.choices(range(len(nodes)), weights=weights)[0]
    return _on_element(tree, nodes[at], rng), labels[at]


def _weight(node: Node) -> float:
    return WEIGHTS.get(node.role, CLICKABLE if node.attr("clickable") is not None else 0.0)


def _kind(node: Node) -> str:
    return "fill" if node.role in EDITABLE_ROLES else "click"


def _label(tree: Tree, node: Node) -> str:
    # `label_element` looks around; a page of a thousand links would be slow
    return f"{node.role} {said(node)}" if said(node) else label_element(tree, node.bid or "")


def _without_element(
    page: Observation, tree: Tree, past: Sequence[Action | None], rng: Random
) -> Action | None:
    """Scrolling, history and tabs, now and then; after typing, Enter."""
    tabs, at = page.tabs, page.active_tab
    here = tabs[at] if at < len(tabs) else None
    last = past[-1] if past else None
    if isinstance(last, Fill) and page.focused == last.bid and rng.random() < 0.35:
        return Press(last.bid, "Enter")
    if here is not None and here.url == BLANK:
        others = [t.url for t in tabs if t.url != BLANK]
        return Goto(rng.choice(others)) if others and rng.random() < 0.7 else TabClose()
    choices: list[tuple[float, Action]] = [(0.07, Scroll(0.0, float(rng.choice((200, 400, 720)))))]
    if page.scroll[1] > 0:
        choices.append((0.03, Scroll(0.0, -float(rng.choice((200, 400, 720))))))
    if here is not None and here.back:
        choices.append((0.06, GoBack()))
    if here is not None and here.forward:
        choices.append((0.06, GoForward()))
    if len(tabs) > 1:
        choices += [(0.05, TabFocus(rng.choice([i for i in range(len(tabs)) if i != at]))), (0.05, TabClose())]  # fmt: skip
    elif past:
        choices.append((0.015, NewTab()))
    draw = rng.random()
    for share, action in choices:
        draw -= share
        if draw < 0:
            return action
    return None


def _on_element(tree: Tree, node: Node, rng: Random) -> Action:
    bid = str(node.bid)
    if rng.random() < 0.03:
        return Hover(bid)
    options = [n for n in inside(tree, node) if n.role in OPTION_ROLES and said(n)]
    if node.role in ("combobox", "listbox") and options:
        chosen = [said(n) for n in options if n.attr("selected") is None] or [said(options[0])]
        return SelectOption(bid, (rng.choice(chosen),))
    if node.role in EDITABLE_ROLES and node.attr("readonly") is None:
        if node.attr("value") and rng.random() < 0.15:
            return Clear(bid)
        return Click(bid) if rng.random() < 0.1 else Fill(bid, plausible_text(tree, node, rng))
    return Click(bid)
