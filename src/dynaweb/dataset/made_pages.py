"""Pages made of random names, numbers and words: what exercises are written on (ours).

Names, roles, element ids and the words around them are drawn by chance, so nothing about a page can be
learnt but how to read it. No task, page or goal of a benchmark is in here: words come from the run's own
lexicon in random order, names are made of syllables.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dynaweb.errors import UserError
from dynaweb.prompts.pointers import GRAMMAR

ROLES = (
    "button",
    "link",
    "radio",
    "checkbox",
    "textbox",
    "tab",
    "option",
    "cell",
    "listitem",
    "menuitem",
    "image",
    "heading",
    "generic",
)
TASK = "exercise"
FEWEST_WORDS = 20


@dataclass(slots=True)
class MadePage:
    """A page in the making: lines of a tree, numbered as they come."""

    rng: random.Random
    words: Sequence[str]
    lines: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    bid: int = 0

    def name(self) -> str:
        """A name that nothing else on the page has a word of."""
        count = self.rng.choice((1, 1, 1, 2))
        made: list[str] = []
        while len(made) < count:
            word = self.rng.choice(self.words) if self.rng.random() < 0.2 else made_up(self.rng)
            if word not in self.used:
                self.used.add(word)
                made.append(word)
        return " ".join(made)

    def talk(self, most: int) -> list[str]:
        """Words around what matters."""
        drawn = (self.rng.choice(self.words) for _ in range(self.rng.randint(0, most)))
        return [w for w in drawn if w not in self.used]

    def add(self, role: str, name: str, attrs: str = "", depth: int = 1) -> str:
        """One more element; its bid."""
        self.bid += 1
        self.lines.append("\t" * depth + f"[{self.bid}] {role} '{name}'{attrs}")
        return str(self.bid)

    def text(self, name: str, depth: int = 1) -> None:
        """Text that is no element of its own."""
        self.lines.append("\t" * depth + f"StaticText '{name}'")

    def field(self, label: str, value: str, *, before: bool = False) -> str:
        """A text field under a label that stands before it or in it; its bid. Either may be empty."""
        if label and before:
            self.text(label)
        held = f", value='{value}'" if value else ""
        return self.add("textbox", "" if before else label, held)

    def row(self, label: str, value: str) -> None:
        """Two cells beside each other."""
        self.add("row", "")
        self.add("cell", label, depth=2)
        self.add("cell", value, depth=2)

    def tree(self) -> str:
        """The page as the agent sees it, under a title of random words."""
        return "\n".join((f"RootWebArea '{' '.join(self.talk(2))}'", *self.lines))


def plain_words(words: Iterable[str]) -> list[str]:
    """Those that sentences are made of, in a fixed order.

    Raises:
        UserError: too few.
    """
    plain = sorted(w for w in words if w.isalpha() and len(w) > 1 and w not in GRAMMAR)
    if len(plain) < FEWEST_WORDS:
        raise UserError(
            f"exercises need {FEWEST_WORDS} words to make sentences of, the lexicon has {len(plain)}: "
            "collect more attempts, or switch the exercises off"
        )
    return plain


def blank_page(words: Sequence[str], rng: random.Random) -> MadePage:
    """A page with nothing on it yet."""
    # Numbers from anywhere: with pages that begin at 1 a model counts lines and never learns to copy.
    return MadePage(rng, words, bid=rng.randint(0, 80))


def groups_of_parts(page: MadePage) -> dict[tuple[str, str], str]:
    """Groups that each hold a part of every kind; (group, kind) -> bid of the part."""
    kinds = [page.name() for _ in range(page.rng.randint(1, 3))]
    groups = [page.name() for _ in range(page.rng.randint(2, 4))]
    role = page.rng.choice(("image", "button", "link"))
    bids = {}
    for group in groups:
        page.add("generic", "", ", clickable")
        page.text(group, depth=2)
        page.text(page.name(), depth=2)
        for kind in kinds:
            bids[group, kind] = page.add(role, kind, depth=2)
    return bids


def part_goal(page: MadePage, asked: tuple[str, str]) -> list[str]:
    """A goal that asks for the part of a kind in a group, in either order."""
    parts = [[*page.talk(2), name] for name in asked]
    page.rng.shuffle(parts)
    return [*parts[0], *parts[1], *page.talk(2)]


def fields_goal(
    page: MadePage, fields: Iterable[tuple[str, str]], last: str, *, labelled: bool
) -> list[str]:
    """A goal that says what each field, (label, value), should hold, and then `last`."""
    goal = page.talk(3)
    for label, value in fields:
        named = [quoted(page.rng, value), *page.talk(2)]
        goal += [*page.talk(1), label, *named] if labelled else named
    return [*goal, *page.talk(2), last]


def quoted(rng: random.Random, name: str) -> str:
    """A name as goals write it: now and then in quotes."""
    return rng.choice(('"%s"', "%s", "%s")) % name


def made_up(rng: random.Random) -> str:
    """A word that nobody knows."""
    syllables = "".join(
        rng.choice("bcdfghjklmnprstvwz") + rng.choice("aeiou") for _ in range(rng.randint(2, 4))
    )
    return rng.choice((syllables, syllables.capitalize(), syllables + rng.choice("379XK")))
