"""Made-up pages that teach a new model to read: find what the goal names, copy it, go on in order (ours).

A model of a few million parameters that sees ten demonstrations of a task learns their answers by heart
and never learns to look anything up. Here everything about a page is drawn by chance, so nothing
can be learnt but the looking up itself.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from dynaweb.dataset.made_pages import (
    ROLES,
    TASK,
    MadePage,
    blank_page,
    fields_goal,
    groups_of_parts,
    part_goal,
    plain_words,
    quoted,
)
from dynaweb.dataset.policy import TextExample
from dynaweb.prompts.act import render_act
from dynaweb.records.seeds import derive_seed


class Lesson(StrEnum):
    """What is practised; the first lesson alone is learnt in a minute, and the second builds on it."""

    FIND = "find"
    MIXED = "mixed"


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
    plain = plain_words(words)
    made = []
    for i in range(count):
        rng = random.Random(derive_seed(seed, "exercise", lesson.value, i))
        made.append(rng.choice(_KINDS[lesson])(blank_page(plain, rng)))
    return made


def _find(page: MadePage) -> TextExample:
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
    goal = [*page.talk(4), quoted(rng, names[at]), *page.talk(3)]
    return _ask(page, goal, (), f"click('{bids[at]}')")


def _in_order(page: MadePage) -> TextExample:
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
    goal = [*page.talk(2), listed, *page.talk(2), quoted(rng, last), *page.talk(1)]
    return _ask(page, goal, told, f"click('{bids[steps[done]]}')")


def _fill_in(page: MadePage) -> TextExample:
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
        bids[at] = page.field(
            label if labelled else "", value if at in filled else "", before=before
        )
    last = page.name()
    button = page.add("button", last)
    goal = fields_goal(page, [fields[at] for at in order], last, labelled=labelled)
    told = [f"fill('{bids[at]}', '{fields[at][1]}') textbox" for at in order[:done]]
    if done == len(fields):
        return _ask(page, goal, told, f"click('{button}')")
    return _ask(page, goal, told, f"fill('{bids[order[done]]}', '{fields[order[done]][1]}')")


def _beside(page: MadePage) -> TextExample:
    """The value that stands beside the label, into the only field."""
    rng = page.rng
    rows = [(page.name(), page.name()) for _ in range(rng.randint(2, 5))]
    first = rng.random() < 0.5
    field_bid = page.field("", "") if first else ""
    for label, value in rows:
        page.row(label, value)
    field_bid = field_bid or page.field("", "")
    page.add("button", page.name())
    label, value = rng.choice(rows)
    goal = [*page.talk(3), quoted(rng, label), *page.talk(4)]
    return _ask(page, goal, (), f"fill('{field_bid}', '{value}')")


def _inside(page: MadePage) -> TextExample:
    """The part of that kind in the group that holds the name."""
    bids = groups_of_parts(page)
    groups = list(dict.fromkeys(group for group, _ in bids))
    kinds = list(dict.fromkeys(kind for _, kind in bids))
    asked = page.rng.choice(groups), page.rng.choice(kinds)
    return _ask(page, part_goal(page, asked), (), f"click('{bids[asked]}')")


def _by_role(page: MadePage) -> TextExample:
    """The only element of the kind that the goal names."""
    rng = page.rng
    roles = rng.sample(ROLES, rng.randint(2, 6))
    bids = {role: page.add(role, page.name()) for role in roles}
    role = rng.choice(roles)
    goal = [*page.talk(3), quoted(rng, role), *page.talk(2)]
    return _ask(page, goal, (), f"click('{bids[role]}')")


def _ask(page: MadePage, goal: Sequence[str], done: Sequence[str], reply: str) -> TextExample:
    """The finished question."""
    return TextExample(
        task=TASK, prompt=render_act(" ".join(goal), done, "", page.tree()), completion=reply
    )


def _item(page: MadePage, role: str, name: str) -> str:
    attrs = ", checked='false'" if role in ("radio", "checkbox") else ""
    return page.add(role, name, attrs or page.rng.choice(("", "", ", clickable")))


_KINDS: Mapping[Lesson, tuple[Callable[[MadePage], TextExample], ...]] = {
    Lesson.FIND: (_find,),
    Lesson.MIXED: (_find, _find, _in_order, _fill_in, _beside, _inside, _by_role),
}
