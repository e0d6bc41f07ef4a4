"""Which words a small model should know as words: those that tasks share, not those that they ask for.

Learnt from real attempts: a word on most pages of some task is structure; a word that goals name now
and then is a name, to be pointed at (`prompts.pointers`); of the other words those that come again are
kept. Words with an order or a sense of their own (months, ordinals, keys, colours) are always kept.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dynaweb.axtree.vocabulary import MEANT
from dynaweb.errors import UserError
from dynaweb.prompts.pointers import Lexicon, words_in
from dynaweb.records.trajectory import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class LexiconConfig:
    """How structure is told from names."""

    structure_fraction: float = 0.6
    """A word in at least this share of a task's attempts is structure, whatever goals say."""
    common_fraction: float = 0.1
    """A word that no goal asks for is kept if it is in at least this share of a task's attempts."""
    least_attempts: int = 3
    """And in at least so many."""

    def __post_init__(self) -> None:
        for name in ("structure_fraction", "common_fraction"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise UserError(
                    f"lexicon {name} {getattr(self, name)!r} is out of range: use above 0, to 1"
                )
        if self.least_attempts < 1:
            raise UserError(f"lexicon least_attempts {self.least_attempts!r} must be 1 or more")


def learn_lexicon(trajectories: Iterable[Trajectory], config: LexiconConfig) -> Lexicon:
    """Learn from attempts of training pages."""
    by_task: dict[str, list[Trajectory]] = defaultdict(list)
    for t in trajectories:
        by_task[t.task].append(t)
    structure: set[str] = set(MEANT)
    common: set[str] = set()
    asked: set[str] = set()
    for attempts in by_task.values():
        seen: Counter[str] = Counter()
        wanted: Counter[str] = Counter()
        for t in attempts:
            goal = _lower(t.goal)
            pages = set().union(*(_lower(s.observation.tree) for s in t.steps), goal)
            seen.update(pages)
            wanted.update(goal)
        n = len(attempts)
        structure |= {w for w, k in seen.items() if k >= config.structure_fraction * n}
        least = max(config.least_attempts, config.common_fraction * n)
        common |= {w for w, k in seen.items() if k >= least}
        asked |= {w for w, k in wanted.items() if k < config.structure_fraction * n}
    return Lexicon(frozenset(structure | (common - asked)))


def _lower(text: str) -> set[str]:
    return {w.lower() for w in words_in(text)}
