"""Made-up attempts that teach a judge to check: was what the goal asks for done, all of it and nothing else (ours).

A judge that has seen some dozen endings of a task tells a right one from a wrong one by what failures of
that task usually look like, and is sure of neither where the agent hardly ever succeeds; then its bars
leave such tasks out, and nothing is learnt in dreams just where there is something to learn. Here the
verdict follows from goal, page and actions alone.
"""

import random
from collections.abc import Callable, Iterable, Sequence

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
from dynaweb.judge.evidence import judge_prompt
from dynaweb.prompts.judge import FAILURE, SUCCESS
from dynaweb.records.action import parse_action
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Step


def verdict_exercises(count: int, words: Iterable[str], *, seed: int) -> list[TextExample]:
    """So many attempts with their verdicts, half of them successes; the n-th depends on words, seed and n alone.

    Args:
        count: how many.
        words: that the model knows as words (`prompts.pointers.Lexicon`); their order here is no matter.
        seed: of everything drawn.

    Raises:
        UserError: too few words to make sentences of.
    """
    plain = plain_words(words)
    made = []
    for i in range(count):
        rng = random.Random(derive_seed(seed, "verdict", i))
        made.append(rng.choice(_KINDS)(blank_page(plain, rng), i % 2 == 0))
    return made


def _ticked(page: MadePage, right: bool) -> TextExample:
    """Exactly what the goal lists is ticked, and then the button that it names is clicked."""
    rng = page.rng
    role, mark = rng.choice((("checkbox", "checked"), ("radio", "checked"), ("option", "selected")))
    names = [page.name() for _ in range(rng.randint(2, 7))]
    wanted = set(rng.sample(range(len(names)), rng.randint(1, min(5, len(names)))))
    ticked = wanted if right else _other_set(rng, wanted, len(names))
    shown = rng.random() < 0.8
    bids = {}
    for at, name in enumerate(names):
        state = f", {mark}='{str(at in ticked).lower()}'" if shown else ""
        bids[at] = page.add(role, name, state)
    last = page.name()
    button = page.add("button", last)
    clicks = [bids[at] for at in rng.sample(sorted(ticked), len(ticked))]
    listed = ", ".join(names[at] for at in rng.sample(sorted(wanted), len(wanted)))
    goal = [*page.talk(2), listed, *page.talk(2), quoted(rng, last), *page.talk(1)]
    return _asked(page, goal, [*(f"click('{b}')" for b in clicks), f"click('{button}')"], right)


def _other_set(rng: random.Random, wanted: set[int], count: int) -> set[int]:
    """One too few, one too many, or one for another: the slips that are hardest to see."""
    others = sorted(set(range(count)) - wanted)
    slips = ["few"] + (["many", "other"] if others else [])
    slip = rng.choice(slips)
    drop = {rng.choice(sorted(wanted))} if slip != "many" else set()
    add = {rng.choice(others)} if slip != "few" else set()
    return (wanted - drop) | add


def _filled(page: MadePage, right: bool) -> TextExample:
    """Every field holds what the goal says."""
    rng = page.rng
    labelled = rng.random() < 0.7
    fields = [(page.name(), page.name()) for _ in range(rng.randint(1, 3) if labelled else 1)]
    held = [value for _, value in fields]
    if not right:
        _spoil(rng, held, [page.name(), *(label for label, _ in fields)])
    before = rng.random() < 0.6
    calls = []
    for at in rng.sample(range(len(fields)), len(fields)):
        bid = page.field(fields[at][0] if labelled else "", held[at], before=before)
        calls += [f"fill('{bid}', '{held[at]}')"] if held[at] else []
    rng.shuffle(calls)
    last = page.name()
    button = page.add("button", last)
    goal = fields_goal(page, fields, last, labelled=labelled)
    return _asked(page, goal, [*calls, f"click('{button}')"], right)


def _spoil(rng: random.Random, held: list[str], others: Sequence[str]) -> None:
    """Leave a field empty, swap two, or put something else in one."""
    slip = rng.choice(("empty", "other", "swap") if len(held) > 1 else ("empty", "other"))
    at = rng.randrange(len(held))
    if slip == "swap":
        to = (at + 1) % len(held)
        held[at], held[to] = held[to], held[at]
    else:
        held[at] = "" if slip == "empty" else rng.choice(others)


def _chosen(page: MadePage, right: bool) -> TextExample:
    """The element that the goal names was clicked."""
    rng = page.rng
    names = [page.name() for _ in range(rng.randint(2, 9))]
    role = rng.choice(ROLES) if rng.random() < 0.5 else None
    bids = [page.add(role or rng.choice(ROLES), name) for name in names]
    at = rng.randrange(len(names))
    goal = [*page.talk(4), quoted(rng, names[at]), *page.talk(3)]
    clicked = at if right else rng.choice([i for i in range(len(names)) if i != at])
    return _asked(page, goal, [f"click('{bids[clicked]}')"], right)


def _of_kind(page: MadePage, right: bool) -> TextExample:
    """An element of the role that the goal names was clicked."""
    rng = page.rng
    roles = rng.sample(ROLES, rng.randint(2, 5))
    bids = {role: page.add(role, page.name()) for role in roles}
    asked = rng.choice(roles)
    clicked = asked if right else rng.choice([r for r in roles if r != asked])
    goal = [*page.talk(3), quoted(rng, asked), *page.talk(2)]
    return _asked(page, goal, [f"click('{bids[clicked]}')"], right)


def _looked_up(page: MadePage, right: bool) -> TextExample:
    """What stands beside the label that the goal names was entered."""
    rng = page.rng
    rows = [(page.name(), page.name()) for _ in range(rng.randint(2, 5))]
    at = rng.randrange(len(rows))
    label, value = rows[at]
    wrong = [text for row in rows for text in row if text != value]
    entered = value if right else rng.choice(wrong)
    order = rng.sample(rows, len(rows))
    first = rng.random() < 0.5
    field = page.field("", entered) if first else ""
    for left, beside in order:
        page.row(left, beside)
    field = field or page.field("", entered)
    last = page.name()
    button = page.add("button", last)
    goal = [*page.talk(3), quoted(rng, label), *page.talk(3), last]
    return _asked(page, goal, [f"fill('{field}', '{entered}')", f"click('{button}')"], right)


def _inside(page: MadePage, right: bool) -> TextExample:
    """The part of that kind was clicked in the group that holds the name."""
    bids = groups_of_parts(page)
    asked = page.rng.choice(sorted(bids))
    clicked = asked if right else page.rng.choice([key for key in sorted(bids) if key != asked])
    return _asked(page, part_goal(page, asked), [f"click('{bids[clicked]}')"], right)


def _asked(page: MadePage, goal: Sequence[str], calls: Sequence[str], right: bool) -> TextExample:
    """The finished question, in the judge's own words."""
    shown = Observation(url="", title="", tree=page.tree())
    steps = tuple(Step(observation=shown, action=parse_action(call)) for call in calls)
    return TextExample(
        task=TASK,
        prompt=judge_prompt(" ".join(goal), steps),
        completion=SUCCESS if right else FAILURE,
    )


_KINDS: tuple[Callable[[MadePage, bool], TextExample], ...] = (
    _ticked,
    _ticked,
    _filled,
    _filled,
    _chosen,
    _of_kind,
    _looked_up,
    _inside,
)
