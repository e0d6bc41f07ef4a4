"""What a scripted agent looks at: the goal, the elements in order, and what it has done so far.

Nothing here knows more than a model is shown: goal text, tree text, past pages and actions.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from dynaweb.axtree.tree import Node, Tree, read_tree
from dynaweb.errors import DynawebError
from dynaweb.records.action import Action, Click, Fill, target_bids
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step

Move: TypeAlias = tuple[str, Action]
"""A short thought, and the action."""

Script: TypeAlias = Callable[["Page"], Move]
"""A policy for one family of pages. Looks at the page as it is, so it also carries on after a detour."""


class StuckError(DynawebError):
    """The page or the goal is not what the script was written for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A past action, and what it was done to."""

    action: Action
    words: str
    """What the element said at the time, empty for actions without one."""
    tree: Tree
    """The page it was done on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One decision's worth of evidence."""

    goal: str
    nodes: Tree
    done: tuple[Done, ...] = ()
    """Past actions that happened, oldest first."""

    def quoted(self, index: int = 0) -> str:
        """The goal's n-th text in double quotes.

        Raises:
            StuckError: it has fewer.
        """
        found = re.findall(r'"([^"]*)"', self.goal)
        if index >= len(found):
            raise StuckError(f"no quoted text {index} in goal {self.goal!r}")
        return str(found[index])

    def match(self, pattern: str) -> tuple[str, ...]:
        """Groups of the pattern in the goal.

        Raises:
            StuckError: the goal does not match.
        """
        found = re.search(pattern, self.goal, re.DOTALL)
        if found is None:
            raise StuckError(f"goal {self.goal!r} does not match {pattern!r}")
        return tuple(found.groups())

    def every(self, *roles: str, name: str | None = None) -> list[Node]:
        """Elements with a bid, of one of the roles (any when none is given), in document order."""
        return [
            n
            for n in self.nodes
            if n.bid is not None
            and (not roles or n.role in roles)
            and (name is None or said(n) == name.strip())
        ]

    def one(self, *roles: str, name: str | None = None, nth: int = 0) -> Node:
        """The n-th such element.

        Raises:
            StuckError: there is none.
        """
        wanted = " or ".join(roles) or "element"
        return at(self.every(*roles, name=name), nth, f"{wanted} {name!r}" if name else wanted)

    def says(self, words: str) -> Node:
        """The innermost element with a bid whose words are exactly these.

        Raises:
            StuckError: there is none.
        """
        found = [n for n in self.every() if text_of(self.nodes, n) == words.strip()]
        if not found:
            raise StuckError(f"nothing here says {words!r}")
        return found[-1]

    def texts(self) -> list[str]:
        """Plain text of the page in order, without the bits that only repeat the goal."""
        return [w for n in self.nodes if n.role == "StaticText" and (w := said(n)) not in self.goal]

    def label(self, node: Node) -> str:
        """What a field is called: its own name, else the text that stands closest before it.

        What contains the field is passed over: a cell's name repeats what is typed in it.
        """
        if said(node):
            return said(node)
        depth = node.depth
        for n in reversed(self.nodes[1 : place(self.nodes, node)]):
            contains, depth = n.depth < depth, min(depth, n.depth)
            if said(n) and not contains:
                return said(n)
        return ""

    def typed(self, node: Node) -> str:
        """What was typed last into a field, for fields that show only dots."""
        for past in reversed(self.done):
            if isinstance(past.action, Fill) and past.action.bid == node.bid:
                return past.action.value
        return ""

    def clicks(self, words: str) -> int:
        """How often something that says this was clicked."""
        return sum(isinstance(d.action, Click) and d.words == words for d in self.done)

    def touched(self, node: Node) -> int:
        """How often this very element was clicked."""
        return sum(isinstance(d.action, Click) and d.action.bid == node.bid for d in self.done)


T = TypeVar("T")


def at(items: Sequence[T], index: int, what: str) -> T:
    """The item at a place that the goal or the page names.

    Raises:
        StuckError: there are not so many.
    """
    if not -len(items) <= index < len(items):
        raise StuckError(f"no {what} number {index + 1} here")
    return items[index]


def see(goal: str, past: tuple[Step, ...], observation: Observation) -> Page:
    """The evidence at one step."""
    done = tuple(
        _done(s.action, read_tree(s.observation.tree))
        for s in past
        if s.action is not None and s.fault is None
    )
    return Page(goal=goal, nodes=read_tree(observation.tree), done=done)


def _done(action: Action, tree: Tree) -> Done:
    bids = target_bids(action)
    node = next((n for n in tree if bids and n.bid == bids[0]), None)
    return Done(action=action, words=text_of(tree, node) if node is not None else "", tree=tree)


def said(node: Node) -> str:
    """A node's name without space around it, empty when it has none."""
    return (node.name or "").strip()


def place(tree: Tree, node: Node) -> int:
    """Where the node stands."""
    return next(i for i, n in enumerate(tree) if n is node)


def inside(tree: Tree, node: Node) -> list[Node]:
    """Everything below a node."""
    below: list[Node] = []
    for n in tree[place(tree, node) + 1 :]:
        if n.depth <= node.depth:
            break
        below.append(n)
    return below


def text_of(tree: Tree, node: Node) -> str:
    """A node's name, or the words below it."""
    return said(node) or " ".join(w for n in inside(tree, node) if (w := said(n)))


def value_of(node: Node) -> str:
    """What a field holds."""
    shown = node.attr("value")
    return "" if shown is None else str(shown)


def has(node: Node, flag: str) -> bool:
    """The node carries the flag, bare or as 'true'."""
    return str(node.attr(flag)).lower() == "true"


def bid(node: Node) -> str:
    """The node's bid.

    Raises:
        StuckError: it has none.
    """
    if node.bid is None:
        raise StuckError(f"{node.role} {node.name!r} cannot be acted on")
    return node.bid


def click(node: Node, why: str = "") -> Move:
    """Click it."""
    return why or f"The goal wants {node.role} {said(node)!r}.", Click(bid(node))


def fill(node: Node, text: str, why: str = "") -> Move:
    """Type into it."""
    return why or f"The field must say {text!r}.", Fill(bid(node), text)


def submit(page: Page, name: str = "Submit") -> Move:
    """All is as wanted: press what says so."""
    return click(page.says(name), f"Everything is as wanted: {name}.")
