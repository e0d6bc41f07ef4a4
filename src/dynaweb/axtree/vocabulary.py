"""Which words of a task are names that could have been others, and which carry its meaning (ours).

Learnt from attempts on many seeds: a word that most seeds of a task share is structure; a word that
comes and goes is a name. Words with an order or a meaning of their own (months, ordinals, keys, roles)
are never names. A task whose experts act on words that the goal does not say (synonyms, sums,
transformed text) is left alone: there, names are not copied but understood.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dynaweb.errors import UserError
from dynaweb.records.action import (
    Fill,
    KeyboardInsertText,
    KeyboardType,
    SelectOption,
    SendMsgToUser,
    target_bids,
)
from dynaweb.records.trajectory import Behaviour, Outcome, Step, Trajectory

_WORD = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|[A-Za-z]+")
_QUOTED = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")

_MEANT_TEXT = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
first second third fourth fifth sixth seventh eighth ninth tenth last next previous st nd rd th
one two three four five six seven eight nine ten zero half am pm
red green blue yellow orange purple black white gray grey pink cyan magenta brown
true false yes no ok cancel submit and or not the an of to in on from with by for
enter tab escape backspace delete control shift alt meta arrowup arrowdown arrowleft arrowright
button link textbox text textarea input checkbox radio combobox option listbox menu menuitem
tabpanel dialog heading image slider spinbutton searchbox scrollbar table row cell list listitem
small medium large largest smallest greatest least more less than up down left right top bottom
"""

MEANT = frozenset(_MEANT_TEXT.split())
"""Words whose sense is not their spelling: order, colour, size, keys, roles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyConfig:
    """How names are told from structure."""

    common_fraction: float = 0.3
    """A word found in at least this fraction of a task's seeds is structure."""
    min_seeds: int = 8
    """A task seen on fewer seeds is not renamed: too little to tell."""
    min_follow_fraction: float = 0.9
    """At least this fraction of a task's successes must act on words that goal or page give."""
    cipher_share: float = 0.4
    """Fraction of renamings spelled by a permutation of letters instead of other words, in [0, 1]."""

    def __post_init__(self) -> None:
        for name in ("common_fraction", "min_follow_fraction", "cipher_share"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UserError(f"{name} {getattr(self, name)!r} is out of range: use 0 to 1")
        if self.min_seeds < 2:
            raise UserError(f"min_seeds {self.min_seeds!r} is out of range: use 2 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Protected words by task, and words to rename to."""

    protected: Mapping[str, frozenset[str]]
    """Task -> words that stay; a task that is not here is never renamed."""
    pool: tuple[str, ...]
    """Names seen anywhere, sorted."""
    cipher_share: float

    def is_renamable(self, task: str) -> bool:
        """Whether names of this task may change."""
        return task in self.protected

    def is_protected(self, task: str, word: str) -> bool:
        """Whether this word stays."""
        return word in MEANT or word in self.protected.get(task, frozenset())


def words_of(text: str) -> set[str]:
    """Lower-case runs of Latin letters; escapes are not words."""
    return {w.lower() for w in _WORD.findall(text) if not w.startswith("\\")}


def goal_words(trajectory: Trajectory) -> set[str]:
    """Words of the goal."""
    return words_of(trajectory.goal)


def quoted_goal_words(trajectory: Trajectory) -> set[str]:
    """Words that the goal gives in double quotes: to be found, typed or begun with."""
    return {w for quoted in re.findall(r'"([^"]*)"', trajectory.goal) for w in words_of(quoted)}


def content_words(trajectory: Trajectory) -> set[str]:
    """Words in quotes on any page of the attempt, and words the agent typed, chose or said."""
    steps = trajectory.past + trajectory.steps
    trees = [s.observation.tree for s in steps]
    trees += [trajectory.final.tree] if trajectory.final is not None else []
    words = {w for tree in set(trees) for quoted in _QUOTED.findall(tree) for w in words_of(quoted)}
    return words.union(*(words_of(typed_text(s)) for s in steps))


def typed_text(step: Step) -> str:
    """What the agent typed, chose or said in this step."""
    match step.action:
        case Fill():
            return step.action.value
        case SelectOption():
            return " ".join(step.action.options)
        case SendMsgToUser() | KeyboardType() | KeyboardInsertText():
            return step.action.text
        case _:
            return ""


def learn_vocabulary(trajectories: Iterable[Trajectory], config: VocabularyConfig) -> Vocabulary:
    """Tell names from structure, task by task; training trajectories only."""
    by_task: dict[str, list[Trajectory]] = defaultdict(list)
    for t in trajectories:
        by_task[t.task].append(t)
    protected: dict[str, frozenset[str]] = {}
    names: set[str] = set()
    structure: set[str] = set(MEANT)
    for task, attempts in by_task.items():
        common, rare = _common_words(attempts, config.common_fraction)
        structure |= common
        names |= rare
        if len({t.seed for t in attempts}) < config.min_seeds:
            continue
        if _follow_fraction(attempts, common) >= config.min_follow_fraction:
            protected[task] = common
    pool = tuple(sorted(w for w in names - structure if len(w) > 2))
    return Vocabulary(protected=protected, pool=pool, cipher_share=config.cipher_share)


def _common_words(attempts: list[Trajectory], fraction: float) -> tuple[frozenset[str], set[str]]:
    by_seed: dict[int, set[str]] = defaultdict(set)
    for t in attempts:
        by_seed[t.seed] |= content_words(t) | goal_words(t)
    counts = Counter(w for words in by_seed.values() for w in words)
    common = frozenset(w for w, n in counts.items() if n >= fraction * len(by_seed))
    return common, set(counts) - common


def _follow_fraction(attempts: list[Trajectory], common: frozenset[str]) -> float:
    """Of the successes, the fraction whose targets and texts come from goal and page; 0 if none.

    Experts' successes where there are any: others succeed with detours that say nothing of the task.
    """
    won = [t for t in attempts if t.outcome is Outcome.SUCCESS]
    successes = [t for t in won if t.behaviour is Behaviour.EXPERT] or won
    follows = [t for t in successes if _follows(t, common | MEANT)]
    return len(follows) / len(successes) if successes else 0.0


def _follows(trajectory: Trajectory, known: frozenset[str]) -> bool:
    goal = goal_words(trajectory)
    shown: set[str] = set()
    for step in trajectory.steps:
        tree = step.observation.tree
        shown |= {w for quoted in _QUOTED.findall(tree) for w in words_of(quoted)}
        if not words_of(typed_text(step)) <= known | goal | shown:
            return False
        for bid in target_bids(step.action) if step.action is not None else ():
            free = _name_words(tree, bid) - known
            if free and not any(_said(w, goal) for w in free):
                return False
    return True


def _said(word: str, goal: set[str]) -> bool:
    return any(word == g or word.startswith(g) or word.endswith(g) for g in goal)


def _name_words(tree: str, bid: str) -> set[str]:
    line = re.search(rf"^\t*\[{re.escape(bid)}\] .*$", tree, re.MULTILINE)
    quoted = _QUOTED.search(line.group(0)) if line is not None else None
    return words_of(quoted.group(0)) if quoted is not None else set()
