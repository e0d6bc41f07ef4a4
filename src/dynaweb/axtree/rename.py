"""The same attempt under other names: augmentation that teaches copying (ours).

A small model copies strings it has seen and fails on new ones. Renaming the words of a whole attempt
(goal, pages, actions) consistently gives as many distinct strings as wanted and leaves the structure,
so that only copying predicts them. Words are changed inside quoted names and values only, never roles,
attribute names, keys or addresses; which words may change is learnt per task (`vocabulary.py`).

Two kinds of renaming, drawn by seed: other words of the corpus (how unseen pages will look), and a
cipher (a permutation of letters, vowels to vowels), which keeps "starts with" and "ends with" true.
"""

import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from dynaweb.axtree.vocabulary import (
    Vocabulary,
    content_words,
    goal_words,
    quoted_goal_words,
)
from dynaweb.records.action import (
    Action,
    Fill,
    KeyboardInsertText,
    KeyboardType,
    ReportInfeasible,
    SelectOption,
    SendMsgToUser,
)
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step, Trajectory

_WORD = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|[A-Za-z]+")
_QUOTED = re.compile(r"(?:([A-Za-z]+)=)?('(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")")
_CONTENT_KEYS = frozenset({"value", "valuetext", "description", "placeholder"})
_VOWELS = "aeiou"
_CONSONANTS = "bcdfghjklmnpqrstvwxyz"
_TRIES = 8
"""Ciphers drawn before an attempt whose words must all change is left as it is."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """One consistent change of words."""

    words: Mapping[str, str]
    """Lower-case word -> lower-case word; one to one."""

    def text(self, text: str) -> str:
        """Plain text with its words changed; case follows the old word."""
        return _WORD.sub(lambda m: self._word(m.group(0)), text)

    def quoted(self, text: str) -> str:
        """Only what stands in quotes: names, and attributes that hold content."""

        def change(m: re.Match[str]) -> str:
            key, body = m.group(1), m.group(2)
            if key is None:
                return self.text(body)
            return f"{key}={self.text(body)}" if key in _CONTENT_KEYS else m.group(0)

        return _QUOTED.sub(change, text)

    def _word(self, word: str) -> str:
        new = self.words.get(word.lower())
        if new is None:
            return word
        if word.islower():
            return new
        if word.isupper() and len(word) > 1:
            return new.upper()
        if word.istitle() or len(word) != len(new):
            return new.capitalize()
        return "".join(n.upper() if w.isupper() else n for w, n in zip(word, new, strict=True))


def rename_trajectory(
    trajectory: Trajectory, vocabulary: Vocabulary, seed: int
) -> Trajectory | None:
    """The attempt with other words; None when nothing in it may be renamed.

    Generations are left out: their token ids belong to the old words. The outcome still holds,
    because equal words stay equal and different ones different.
    """
    renaming = draw_renaming(trajectory, vocabulary, seed)
    if renaming is None:
        return None

    def steps(old: Iterable[Step]) -> tuple[Step, ...]:
        return tuple(rename_step(s, renaming) for s in old)

    final = trajectory.final
    return replace(
        trajectory,
        trajectory_id=f"{trajectory.trajectory_id}~{seed}",
        goal=renaming.text(trajectory.goal),
        steps=steps(trajectory.steps),
        final=None if final is None else rename_observation(final, renaming),
        past=steps(trajectory.past),
    )


def rename_step(step: Step, renaming: Renaming) -> Step:
    """One step under other names, without its generations."""
    return replace(
        step,
        observation=rename_observation(step.observation, renaming),
        thought=renaming.text(step.thought),
        action=None if step.action is None else rename_action(step.action, renaming),
        generations=(),
    )


def rename_observation(observation: Observation, renaming: Renaming) -> Observation:
    """A page under other names; addresses, bids and attachments stay."""
    return replace(
        observation,
        title=renaming.text(observation.title),
        tree=renaming.quoted(observation.tree),
        tabs=tuple(replace(t, title=renaming.text(t.title)) for t in observation.tabs),
        last_action_error=renaming.quoted(observation.last_action_error),
    )


def rename_action(action: Action, renaming: Renaming) -> Action:
    """An action with its typed, chosen or said text changed."""
    match action:
        case Fill():
            return replace(action, value=renaming.text(action.value))
        case SelectOption():
            return replace(action, options=tuple(renaming.text(o) for o in action.options))
        case SendMsgToUser() | KeyboardType() | KeyboardInsertText():
            return replace(action, text=renaming.text(action.text))
        case ReportInfeasible():
            return replace(action, reason=renaming.text(action.reason))
        case _:
            return action


def draw_renaming(trajectory: Trajectory, vocabulary: Vocabulary, seed: int) -> Renaming | None:
    """A seeded renaming of the words of this attempt that may change; None when there are none."""
    if not vocabulary.is_renamable(trajectory.task):
        return None
    content = content_words(trajectory)
    goal = goal_words(trajectory)
    free = sorted(w for w in content if not vocabulary.is_protected(trajectory.task, w))
    hints = {
        w
        for w in goal - content
        if not vocabulary.is_protected(trajectory.task, w) and _is_part(w, free)
    }
    kept = quoted_goal_words(trajectory) - set(free) - hints
    if not free or any(_is_part(w, free) for w in kept):
        return None  # nothing to change, or a beginning that stays while its word would change
    rng = random.Random(seed)
    parts = bool(hints) or any(_is_part(w, free) for w in goal & set(free))
    taken = content | goal
    if parts or rng.random() < vocabulary.cipher_share:
        spelled = _cipher([*free, *sorted(hints)], taken, rng, whole=parts)
        return Renaming(spelled) if spelled else None
    return Renaming(_substitute(free, vocabulary.pool, taken, rng))


def _is_part(word: str, others: Iterable[str]) -> bool:
    """Whether a goal speaks of the beginning or the end of another word with it."""
    return any(word != o and (o.startswith(word) or o.endswith(word)) for o in others)


def _cipher(
    words: list[str], taken: set[str], rng: random.Random, *, whole: bool = False
) -> dict[str, str]:
    """Spell words with other letters; words whose spelling is taken stay, unless `whole`."""
    for _ in range(_TRIES):
        table = _letters(rng)
        spelled = {w: w.translate(table) for w in words if w.translate(table) not in taken}
        if len(spelled) == len(words) or not whole:
            return spelled
    return {}


def _letters(rng: random.Random) -> dict[int, int]:
    table: dict[int, int] = {}
    for group in (_VOWELS, _CONSONANTS):
        table |= str.maketrans(group, "".join(rng.sample(group, len(group))))
    return table


def _substitute(
    words: list[str], pool: tuple[str, ...], taken: set[str], rng: random.Random
) -> dict[str, str]:
    """Other words of the corpus; spelled ones where the pool is too small."""
    others = [w for w in rng.sample(pool, min(len(pool), 4 * len(words) + 8)) if w not in taken]
    long = [w for w in words if len(w) > 1]
    chosen = dict(zip(long, others, strict=False))
    left = _cipher(long[len(chosen) :], taken | set(chosen.values()), rng)
    return chosen | left


def renamed_copies(
    trajectories: Iterable[Trajectory],
    vocabulary: Vocabulary,
    *,
    copies: int,
    seed_of: Callable[[Trajectory, int], int],
) -> list[Trajectory]:
    """The attempts themselves and up to `copies` renamed ones each."""
    out: list[Trajectory] = []
    for t in trajectories:
        out.append(t)
        for i in range(copies):
            renamed = rename_trajectory(t, vocabulary, seed_of(t, i))
            if renamed is not None:
                out.append(renamed)
    return out
