"""Questions with a known answer that no recording holds: actions that cannot work, and another's goal.

A blocked action must leave the page as it is (papers F2, F3); the same page and action under another goal must
lead to the same page (papers F1). Both are made from real pages.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from dynaweb.axtree.gate import EDITABLE_ROLES, SELECT_ROLES, check_action
from dynaweb.axtree.place import next_bid
from dynaweb.axtree.tree import Node, Tree, read_tree
from dynaweb.bench.results import Share
from dynaweb.bench.worlds.answers import Answer, Asked, Measured, answer_key
from dynaweb.bench.worlds.cases import Case, question
from dynaweb.bench.worlds.scores import says_happened
from dynaweb.records.action import Action, Clear, Click, Fill, SelectOption
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed

_NOTHING = Share()
NO_OPTION = "no such option"
_WORD = re.compile(r"\w+")


class Blocked(StrEnum):
    """Why an action cannot work."""

    MISSING = "missing_element"
    """There is no such element."""
    DISABLED = "disabled"
    """The element is disabled."""
    NOT_EDITABLE = "not_editable"
    """Text typed into something that takes none."""
    READ_ONLY = "read_only"
    """A field that may only be read is cleared."""
    NOT_AN_OPTION = "not_an_option"
    """An option chosen that the list does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRow:
    """How a model answered actions that cannot work."""

    kind: str
    """Why they cannot; `all` for the sum."""
    invented: Share = _NOTHING
    """Answers in which something happened all the same, or the episode ended."""
    explained: Share = _NOTHING
    """Answers whose page says why nothing happened."""
    asked: Share = _NOTHING
    """Answers that took the model: the rest was the gate's, which stands in front of every model here."""

    def __add__(self, other: "ProbeRow") -> "ProbeRow":
        return ProbeRow(
            kind=self.kind,
            invented=self.invented + other.invented,
            explained=self.explained + other.explained,
            asked=self.asked + other.asked,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalSwaps:
    """The same step under two goals."""

    shown: bool
    """The model is told the goal at all; where it is not, nothing is asked."""
    differs: Share = _NOTHING
    """Pairs whose answers differ."""
    toward: Share = _NOTHING
    """Pairs that differ towards the goal: more of a goal's own words on what is new under that goal, or an end under one goal only."""


def blocked_actions(page: Observation) -> Iterator[tuple[Blocked, Action]]:
    """One action of each kind that the page has an element for; every one of them the gate refuses."""
    tree = read_tree(page.tree)
    wanted: Mapping[Blocked, Callable[[Tree], Action | None]] = {
        Blocked.MISSING: lambda t: Click(str(next_bid(t) + 7)),
        Blocked.DISABLED: lambda t: _click(_first(t, lambda n: n.attr("disabled") is True)),
        Blocked.NOT_EDITABLE: lambda t: _fill(_first(t, _takes_no_text)),
        Blocked.READ_ONLY: lambda t: _clear(_first(t, _is_read_only)),
        Blocked.NOT_AN_OPTION: lambda t: _select(_first(t, lambda n: n.role in SELECT_ROLES)),
    }
    for kind, make in wanted.items():
        action = make(tree)
        if action is not None and check_action(page, action) is not None:
            yield kind, action


def ask_blocked(model: Measured, case: Case) -> list[tuple[Blocked, Asked]]:
    """The case's page with actions that cannot work."""
    checksum = case.checksum()
    plain = question(case, show_goal=model.shows_goal)
    return [
        (
            kind,
            Asked(
                key=answer_key(model, checksum, f"blocked {kind.value}"),
                question=replace(plain, action=action),
            ),
        )
        for kind, action in blocked_actions(case.known.history[-1])
    ]


def count_blocked(
    asked: Sequence[tuple[Blocked, Asked]], answers: Mapping[str, Answer]
) -> tuple[ProbeRow, ...]:
    """By kind, then all; without those that the model could not be asked."""
    rows = {kind: ProbeRow(kind=kind.value) for kind in Blocked}
    for kind, one in asked:
        said = answers[one.key].prediction
        if said.unanswered:
            continue
        happened = says_happened(one.question.history[-1], said)
        rows[kind] += ProbeRow(
            kind=kind.value,
            invented=Share(hits=int(happened), n=1),
            explained=Share(hits=int(bool(said.observation.last_action_error)), n=1),
            asked=Share(hits=int(not said.by_rule), n=1),
        )
    total = ProbeRow(kind="all")
    for row in rows.values():
        total += row
    return (*(row for row in rows.values() if row.invented.n), total)


def other_goal(case: Case, cases: Sequence[Case], seed: int) -> str | None:
    """Another's goal: of the same task where it has another, else of any task; None when all are one."""
    own = case.known.goal
    goals = {(c.known.task == case.known.task, c.known.goal) for c in cases if c.known.goal}
    near = sorted(g for same, g in goals if same and g != own)
    far = sorted(g for _, g in goals if g != own)
    choose = near or far
    return choose[derive_seed(seed, "swap", case.case_id) % len(choose)] if choose else None


def ask_swapped(model: Measured, case: Case, goal: str) -> Asked:
    """The case under another goal."""
    return Asked(
        key=answer_key(model, case.checksum(), f"goal {goal}"),
        question=question(case, show_goal=True, goal=goal),
    )


def count_swap(case: Case, own: Answer, goal: str, other: Answer) -> tuple[bool, bool]:
    """Whether the answers differ, and whether they differ towards the goals."""
    a, b = own.prediction, other.prediction
    if (a.observation, a.terminal) == (b.observation, b.terminal):
        return False, False
    if a.terminal != b.terminal:
        return True, True
    mine, theirs = _words(case.known.goal), _words(goal)
    new_a, new_b = (_new_words(case, x.observation) for x in (a, b))
    under_mine = len(new_a & (mine - theirs)) - len(new_b & (mine - theirs))
    under_theirs = len(new_b & (theirs - mine)) - len(new_a & (theirs - mine))
    return True, under_mine > 0 or under_theirs > 0


def _new_words(case: Case, page: Observation) -> set[str]:
    before = case.known.history[-1]
    old = set(before.tree.split("\n"))
    lines = [line for line in page.tree.split("\n") if line not in old]
    return _words("\n".join([*lines, page.title if page.title != before.title else ""]))


def _words(text: str) -> set[str]:
    return {w.lower() for w in _WORD.findall(text)}


def _first(tree: Tree, fits: Callable[[Node], bool]) -> Node | None:
    return next((n for n in tree if n.bid is not None and fits(n)), None)


def _takes_no_text(node: Node) -> bool:
    return node.role in ("link", "button", "heading", "image")


def _is_read_only(node: Node) -> bool:
    return node.role in EDITABLE_ROLES and node.attr("readonly") is True


def _click(node: Node | None) -> Action | None:
    return Click(node.bid) if node is not None and node.bid is not None else None


def _fill(node: Node | None) -> Action | None:
    return Fill(node.bid, "some text") if node is not None and node.bid is not None else None


def _clear(node: Node | None) -> Action | None:
    return Clear(node.bid) if node is not None and node.bid is not None else None


def _select(node: Node | None) -> Action | None:
    return SelectOption(node.bid, (NO_OPTION,)) if node is not None and node.bid else None
