"""Which changes can be known: the page, the action and the goal say every new string, or the task does.

A model cannot know what stands in a collapsed section of a page it has never seen, and it would be wrong
to blame it. A change is *determined* when every new string in it stands (as whole words) on the page
before, in the action or in the goal, or was part of a change on at least three other, training seeds of
the task (then it belongs to the task, like the text of a fixed dialog). The set is decided by the true
change alone, before any prediction is looked at.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dynaweb.axtree.tree import read_tree
from dynaweb.axtree.words import WORDED_KEYS
from dynaweb.records.action import print_action
from dynaweb.records.delta import Content, Delta, New, Rewritten, Value
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.examples import change_after_rules
from dynaweb.world.rules import apply_rules
from dynaweb.world.steps import Known, known_steps

MIN_SEEDS = 3

_REFERENCE = re.compile(r"\$(?:t|n|\{[^}]*\})")


@dataclass(frozen=True, slots=True)
class TaskStrings:
    """Strings that belong to tasks."""

    known: frozenset[tuple[str, str]]
    """(task, string)."""


def learn_task_strings(training: Iterable[Trajectory], min_seeds: int = MIN_SEEDS) -> TaskStrings:
    """Strings that changes brought on at least `min_seeds` seeds of a task."""
    seeds: dict[tuple[str, str], set[int]] = defaultdict(set)
    for trajectory in training:
        for known in known_steps(trajectory):
            ruled = apply_rules(known.history, known.action)
            if known.terminal or ruled.settled:
                continue
            for text in new_strings(change_after_rules(ruled, known)):
                seeds[known.task, text].add(known.seed)
    return TaskStrings(frozenset(key for key, found in seeds.items() if len(found) >= min_seeds))


def is_determined(known: Known, delta: Delta, strings: TaskStrings) -> bool:
    """Whether everything new in the true change could be known.

    Args:
        known: the step.
        delta: its true change after the rules.
        strings: from the training seeds.
    """
    page = known.history[-1]
    shown = (str(v) for n in read_tree(page.tree) for v in (n.name, *dict(n.attrs).values()) if v)
    there = "\n".join((*shown, page.title, print_action(known.action), known.goal))
    return all(
        (known.task, text) in strings.known or _stands_in(text, there)
        for text in new_strings(delta)
    )


def new_strings(delta: Delta) -> set[str]:
    """Text that the change brings and does not merely point at."""
    words: list[str | None] = [delta.title]
    for u in delta.updated:
        if isinstance(u, Rewritten):
            words += _content(u.content)
        else:
            words += [u.name, *_values(u.set)]
    for placed in delta.placed:
        for item in placed.items:
            if isinstance(item, New):
                words += _content(item.content)
    pieces = (p.strip() for w in words if w for p in _REFERENCE.split(w))
    return {p for p in pieces if any(c.isalnum() for c in p)}


def _content(content: Content) -> list[str | None]:
    return [content.name, *_values(content.attrs)]


def _values(attrs: tuple[tuple[str, Value], ...]) -> list[str | None]:
    return [v for k, v in attrs if k in WORDED_KEYS and isinstance(v, str)]


def _stands_in(text: str, there: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", there) is not None
