"""Made-up pages that teach a new model to read: find what the goal names, copy it, go on in order (ours).

A model of a few million parameters that sees ten demonstrations of a task learns their answers by heart
and never learns to look anything up. Here names, roles, numbers and the words around them are drawn by
chance, so nothing can be learnt but the looking up itself. No task, page or goal of a benchmark is in
here: words come from the run's own lexicon in random order, names are made of syllables.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from dynaweb.dataset.policy import TextExample
from dynaweb.errors import UserError
from dynaweb.prompts.act import render_act
from dynaweb.prompts.pointers import GRAMMAR
from dynaweb.records.seeds import derive_seed

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


class Lesson(StrEnum):
    """What is practised; the first lesson alone is learnt in a minute, and the second builds on it."""

    FIND = "find"
    MIXED = "mixed"


@dataclass(slots=True)
class _Page:
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
            word = self.rng.choice(self.words) if self.rng.random() < 0.2 else _made_up(self.rng)
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

    def ask(self, goal: Sequence[str], done: Sequence[str], reply: str) -> TextExample:
        """The finished question."""
        tree = "\n".join((f"RootWebArea '{' '.join(self.talk(2))}'", *self.lines))
        return TextExample(
            task=TASK, prompt=render_act(" ".join(goal), done, "", tree), completion=reply
        )


def exercises(count: int, words: Iterable[str], lesson: Lesson, *, seed: int) -> list[TextExample]:
    """So many exercises; the n-th depends on the words, the lesson, the seed and n alone.

    Args:
        count: how many.
        words: that the model knows as words (`prompts.pointers.Lexicon`); their order here is no matter.
        lesson: which kinds.
        seed: of everything drawn.

    Raises:
        UserError: too few words to make sentences of.
    """
    plain = sorted(w for w in words if w.isalpha() and len(w) > 1 and w not in GRAMMAR)
    if len(plain) < FEWEST_WORDS:
        raise UserError(
            f"exercises need {FEWEST_WORDS} words to make sentences of, the lexicon has {len(plain)}: "
            "collect more attempts, or switch the exercises off"
        )
    made = []
    for i in range(count):
        rng = random.Random(derive_seed(seed, "exercise", lesson.value, i))
        # Numbers from anywhere: with pages that begin at 1 a model counts lines and never learns to copy.
        page = _Page(rng, plain, bid=rng.randint(0, 80))
        made.append(rng.choice(_KINDS[lesson])(page))
    return made


def _find(page: _Page) -> TextExample:
    """The element that the goal names."""
    rng = page.rng
    count = rng.randint(2, 10)
    if rng.random() < 0.1:
        shared = page.name()
        names = [f"{shared} #{i + 1}" for i in range(count)]
    else:
        names = [page.name() for _ in range(count)]
    role = rng.choice(ROLES) if rng.random() < 0.5 else None
    bids = [_item(page, role or rng.choice(ROLES), name) for name in names]
    at = rng.randrange(count)
    goal = [*page.talk(4), _quoted(rng, names[at]), *page.talk(3)]
    return page.ask(goal, (), f"click('{bids[at]}')")


def _in_order(page: _Page) -> TextExample:
    """The next of several that the goal names; the last one stands apart, as a button does."""
    rng = page.rng
    role = rng.choice(("checkbox", "radio", "option", "link", "button", "listitem"))
    names = [page.name() for _ in range(rng.randint(2, 8))]
    wanted = rng.sample(range(len(names)), rng.randint(1, min(4, len(names))))
    done = rng.randint(0, len(wanted))
    state = {at: i < done for i, at in enumerate(wanted)}
    bids = []
    for at, name in enumerate(names):
        ticked = f", checked='{str(state.get(at, False)).lower()}'"
        bids.append(page.add(role, name, ticked if role in ("checkbox", "radio") else ""))
    last = page.name()
    bids.append(page.add("button", last))
    steps = [*wanted, len(names)]
    told = [f"click('{bids[at]}') {role} '{names[at]}'" for at in wanted[:done]]
    listed = ", ".join(names[at] for at in wanted)
    goal = [*page.talk(2), listed, *page.talk(2), _quoted(rng, last), *page.talk(1)]
    return page.ask(goal, told, f"click('{bids[steps[done]]}')")


def _fill_in(page: _Page) -> TextExample:
    """The next field that is empty; its label stands in it or before it. Then the button."""
    rng = page.rng
    labelled = rng.random() < 0.7
    fields = [(page.name(), page.name()) for _ in range(rng.randint(1, 3) if labelled else 1)]
    order = rng.sample(range(len(fields)), len(fields))
    done = rng.randint(0, len(fields))
    filled = set(order[:done])
    before = rng.random() < 0.6
    bids: dict[int, str] = {}
    for at in rng.sample(range(len(fields)), len(fields)):
        label, value = fields[at]
        if labelled and before:
            page.text(label)
        held = f", value='{value}'" if at in filled else ""
        bids[at] = page.add("textbox", "" if before or not labelled else label, held)
    last = page.name()
    button = page.add("button", last)
    goal = page.talk(3)
    for at in order:
        label, value = fields[at]
        named = [_quoted(rng, value), *page.talk(2)]
        goal += [*page.talk(1), label, *named] if labelled else named
    goal += [*page.talk(2), last]
    told = [f"fill('{bids[at]}', '{fields[at][1]}') textbox" for at in order[:done]]
    if done == len(fields):
        return page.ask(goal, told, f"click('{button}')")
    return page.ask(goal, told, f"fill('{bids[order[done]]}', '{fields[order[done]][1]}')")


def _beside(page: _Page) -> TextExample:
    """The value that stands beside the label, into the only field."""
    rng = page.rng
    rows = [(page.name(), page.name()) for _ in range(rng.randint(2, 5))]
    first = rng.random() < 0.5
    field_bid = page.add("textbox", "") if first else ""
    for label, value in rows:
        page.add("row", "")
        page.add("cell", label, depth=2)
        page.add("cell", value, depth=2)
    field_bid = field_bid or page.add("textbox", "")
    page.add("button", page.name())
    label, value = rng.choice(rows)
    goal = [*page.talk(3), _quoted(rng, label), *page.talk(4)]
    return page.ask(goal, (), f"fill('{field_bid}', '{value}')")


def _inside(page: _Page) -> TextExample:
    """The part of that kind in the group that holds the name."""
    rng = page.rng
    kinds = [page.name() for _ in range(rng.randint(1, 3))]
    groups = [page.name() for _ in range(rng.randint(2, 4))]
    role = rng.choice(("image", "button", "link"))
    bids = {}
    for group in groups:
        page.add("generic", "", ", clickable")
        page.text(group, depth=2)
        page.text(page.name(), depth=2)
        for kind in kinds:
            bids[group, kind] = page.add(role, kind, depth=2)
    group, kind = rng.choice(groups), rng.choice(kinds)
    parts = [[*page.talk(2), group], [*page.talk(2), kind]]
    rng.shuffle(parts)
    goal = [*parts[0], *parts[1], *page.talk(2)]
    return page.ask(goal, (), f"click('{bids[group, kind]}')")


def _by_role(page: _Page) -> TextExample:
    """The only element of the kind that the goal names."""
    rng = page.rng
    roles = rng.sample(ROLES, rng.randint(2, 6))
    bids = {role: page.add(role, page.name()) for role in roles}
    role = rng.choice(roles)
    goal = [*page.talk(3), _quoted(rng, role), *page.talk(2)]
    return page.ask(goal, (), f"click('{bids[role]}')")


def _item(page: _Page, role: str, name: str) -> str:
    attrs = ", checked='false'" if role in ("radio", "checkbox") else ""
    return page.add(role, name, attrs or page.rng.choice(("", "", ", clickable")))


def _quoted(rng: random.Random, name: str) -> str:
    return rng.choice(('"%s"', "%s", "%s")) % name


def _made_up(rng: random.Random) -> str:
    syllables = "".join(
        rng.choice("bcdfghjklmnprstvwz") + rng.choice("aeiou") for _ in range(rng.randint(2, 4))
    )
    return rng.choice((syllables, syllables.capitalize(), syllables + rng.choice("379XK")))


_KINDS: Mapping[Lesson, tuple[Callable[[_Page], TextExample], ...]] = {
    Lesson.FIND: (_find,),
    Lesson.MIXED: (_find, _find, _in_order, _fill_in, _beside, _inside, _by_role),
}
