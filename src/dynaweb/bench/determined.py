"""Which changes can be known: page, action and goal say every new string, or the task does, and chance says nothing.

A model cannot know what stands in a collapsed section of a page it has never seen, and it would be wrong
to blame it. A change is *determined* when three things hold. (1) Every new string in it stands (as whole
words) on the page before, in the action or in the goal, or was part of a change on at least three other,
training seeds of the task (then it belongs to the task, like the text of a fixed dialog). (2) No real step
of the task with the same page, action and goal, up to the names in them, had another outcome: a popup
that comes now and then is chance. (3) It is not a click on an element that holds others and changed one of
those: which one lies under the middle of a list is geometry, and no tree tells. The set is decided by the
true changes alone, before any prediction is looked at.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dynaweb.axtree.text import print_delta
from dynaweb.axtree.tree import read_tree
from dynaweb.axtree.words import WORDED_KEYS
from dynaweb.prompts.pointers import EVERY_WORD, Lexicon, Pointed
from dynaweb.records.action import Click, Dblclick, print_action
from dynaweb.records.delta import Content, Delta, New, Rewritten, Value
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.examples import change_after_rules, world_prompt
from dynaweb.world.rules import Ruled, apply_rules
from dynaweb.world.steps import Known, known_steps

MIN_SEEDS = 3

_REFERENCE = re.compile(r"\$(?:t|n|\{[^}]*\})")


@dataclass(frozen=True, slots=True)
class Tasks:
    """What is known of tasks when it is decided whether a change can be known."""

    strings: frozenset[tuple[str, str]]
    """(task, string): strings that belong to the task."""
    chance: frozenset[tuple[str, str]] = frozenset()
    """(task, question up to names): questions that had more than one answer."""
    lexicon: Lexicon = EVERY_WORD
    """What is a name."""


def learn_tasks(
    training: Iterable[Trajectory],
    held_out: Iterable[Trajectory],
    lexicon: Lexicon = EVERY_WORD,
    min_seeds: int = MIN_SEEDS,
) -> Tasks:
    """Learn it from real attempts: strings from the training seeds alone, chance from all.

    Args:
        training: attempts on the seeds that the world model learns from.
        held_out: attempts on the seeds that it is measured on.
        lexicon: words that are no names.
        min_seeds: training seeds that a string must be found on to belong to a task.
    """
    seeds: dict[tuple[str, str], set[int]] = defaultdict(set)
    answers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for attempts, teaches in ((training, True), (held_out, False)):
        for known in (k for t in attempts for k in known_steps(t)):
            ruled = apply_rules(known.history, known.action)
            if ruled.settled:
                continue
            truth = change_after_rules(ruled, known)
            if teaches and not known.terminal:
                for text in new_strings(truth):
                    seeds[known.task, text].add(known.seed)
            if known.fault is None:
                question, pointed = _question(known, ruled, lexicon)
                answers[question].add(pointed.say(print_delta(truth)))
    return Tasks(
        strings=frozenset(key for key, found in seeds.items() if len(found) >= min_seeds),
        chance=frozenset(key for key, found in answers.items() if len(found) > 1),
        lexicon=lexicon,
    )


def _question(known: Known, ruled: Ruled, lexicon: Lexicon) -> tuple[tuple[str, str], Pointed]:
    asked = world_prompt(ruled, known.asked, show_goal=True, past_actions=0)
    pointed = lexicon.point(asked)
    return (known.task, pointed.text), pointed


def is_determined(known: Known, delta: Delta, tasks: Tasks) -> bool:
    """Whether the true change could be known.

    Args:
        known: the step.
        delta: its true change after the rules.
        tasks: what is known of tasks.
    """
    ruled = apply_rules(known.history, known.action)
    question, _ = _question(known, ruled, tasks.lexicon)
    if question in tasks.chance or _by_geometry(known, delta):
        return False
    page = known.history[-1]
    shown = (str(v) for n in read_tree(page.tree) for v in (n.name, *dict(n.attrs).values()) if v)
    there = "\n".join((*shown, page.title, print_action(known.action), known.goal))
    return all(
        (known.task, text) in tasks.strings or _stands_in(text, there)
        for text in new_strings(delta)
    )


def _by_geometry(known: Known, delta: Delta) -> bool:
    """Whether a click on an element changed nothing but elements inside it."""
    clicked = known.action.bid if isinstance(known.action, Click | Dblclick) else None
    changed = {u.ref for u in delta.updated}
    if clicked is None or not changed or delta.placed or delta.deleted:
        return False
    inside: set[str] = set()
    depth: int | None = None
    for node in read_tree(known.history[-1].tree):
        if depth is not None and node.depth <= depth:
            break
        if depth is not None and node.bid is not None:
            inside.add(node.bid)
        if node.bid == clicked:
            depth = node.depth
    return changed <= inside


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
