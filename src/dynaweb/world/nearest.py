"""What happened when something like this was done on a page like this: an index of real steps.

Retrieval for everyone who needs precedents: the baseline world model in `baselines.py`, references in
a prompt, evidence against a button's label (papers F6, UI-Simulator). A page is the set of its elements
(role and name) and of its short runs of roles; an action is its kind, its words and the element it acts
on. Both are compared by the cosine of their tf-idf vectors (Salton and Buckley 1988, binary term
frequency), and the two cosines are averaged (ours). Only steps with the same kind of action are compared.
"""

import math
import re
from array import array
from collections.abc import Hashable, Iterable, Set
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

import numpy as np

from dynaweb.axtree.label import label_element
from dynaweb.axtree.tree import read_tree
from dynaweb.records.action import Action, print_action, target_bids, with_bids
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.steps import Known, known_steps

PAGE_WEIGHT = 0.5
"""Share of the page in the similarity; the rest is the action's (ours)."""

MAX_NAME_CHARS = 80
"""Longer names are compared by their beginning."""

_WORD = re.compile(r"\w+")
_Features: TypeAlias = set[Hashable]
_Scores: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A real step, and how like the question it is."""

    known: Known
    similarity: float
    """In [0, 1]; 1.0 for the same elements and the same action on the same element."""


class TransitionIndex:
    """Real steps, found by what was done on what page."""

    def __init__(self, steps: Iterable[Known]) -> None:
        """Index the steps; about 4 ms a step of 10 kB pages."""
        self.steps: tuple[Known, ...] = tuple(steps)
        """In the order given."""
        self._pages = _Space([page_features(k.history[-1]) for k in self.steps])
        self._actions = _Space([action_features(k.history[-1], k.action) for k in self.steps])
        self._kinds = np.array([type(k.action).__name__ for k in self.steps], dtype=np.str_)

    def nearest(
        self,
        observation: Observation,
        action: Action,
        k: int = 1,
        *,
        without: Set[str] = frozenset(),
    ) -> list[Neighbour]:
        """The most similar steps with this kind of action, best first; ties keep the index's order.

        Args:
            observation: the page.
            action: what is done on it.
            k: most steps returned; fewer when fewer are known.
            without: ids of trajectories whose steps are passed over, such as the question's own.
        """
        if not self.steps or k < 1:
            return []
        scores = PAGE_WEIGHT * self._pages.cosines(page_features(observation))
        scores += (1.0 - PAGE_WEIGHT) * self._actions.cosines(action_features(observation, action))
        allowed = np.flatnonzero(self._kinds == type(action).__name__)
        ranked = allowed[np.argsort(-scores[allowed], kind="stable")]
        found: list[Neighbour] = []
        for at in ranked:
            if len(found) == k:
                break
            known = self.steps[at]
            if known.trajectory_id not in without:
                found.append(Neighbour(known=known, similarity=min(float(scores[at]), 1.0)))
        return found


def index_trajectories(trajectories: Iterable[Trajectory]) -> TransitionIndex:
    """An index of every step that has an action and a page after it."""
    return TransitionIndex(k for t in trajectories for k in known_steps(t))


def page_features(page: Observation) -> _Features:
    """What a page shows: its address, its elements by role and name, and runs of three roles."""
    parts = _host_and_path(page.url)
    found: _Features = {("at", *parts)}
    before = earlier = ""
    for node in read_tree(page.tree):
        found.add((node.role, (node.name or "")[:MAX_NAME_CHARS]))
        found.add(("run", earlier, before, node.role))
        earlier, before = before, node.role
    return found


def _host_and_path(url: str) -> tuple[str, str]:
    """Host and path of an address; the whole of it where it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url, ""
    return parts.netloc, parts.path


def action_features(page: Observation, action: Action) -> _Features:
    """What an action says besides its bids, and the role, name and words of what it acts on."""
    bids = target_bids(action)
    said = print_action(with_bids(action, ["0"] * len(bids))) if bids else print_action(action)
    found: _Features = {("says", said)}
    tree = read_tree(page.tree) if bids else ()
    for bid in bids:
        label = label_element(tree, bid)
        found.add(("on", label))
        found.add(("role", label.partition(" ")[0]))
        found.update(("word", w.lower()) for w in _WORD.findall(label))
    return found


class _Space:
    """Sets of features as tf-idf vectors, by an inverted index."""

    def __init__(self, rows: list[_Features]) -> None:
        postings: dict[Hashable, array[int]] = {}
        for at, features in enumerate(rows):
            for feature in features:
                postings.setdefault(feature, array("i")).append(at)
        self._n = len(rows)
        self._postings = {f: np.frombuffer(p, dtype=np.int32) for f, p in postings.items()}
        squares: _Scores = np.zeros(self._n)
        for posting in self._postings.values():
            squares[posting] += self._weight(len(posting)) ** 2
        self._norms = np.sqrt(squares)

    def _weight(self, rows: int) -> float:
        """Inverse document frequency, never 0: a feature of every row still counts a little."""
        return math.log(1.0 + self._n / max(rows, 1))

    def cosines(self, features: _Features) -> _Scores:
        """Cosine of every row with a set of features, shape (rows,)."""
        dots: _Scores = np.zeros(self._n)
        square = 0.0
        # in a fixed order: sums of floats depend on it, and sets of strings are ordered anew by every process
        for feature in sorted(features, key=repr):
            posting = self._postings.get(feature)
            weight = self._weight(0 if posting is None else len(posting))
            square += weight * weight
            if posting is not None:
                dots[posting] += weight * weight
        scale = self._norms * math.sqrt(square)
        return np.divide(dots, scale, out=np.zeros(self._n), where=scale > 0)
