"""`dynaweb inspect` on a transition: the state change as a coloured diff, as models write it, and in plain English."""

from collections.abc import Iterator
from dataclasses import dataclass

from dynaweb.axtree.describe import describe_delta
from dynaweb.axtree.label import label_action
from dynaweb.axtree.linediff import DiffLine, Mark, line_diff, with_context
from dynaweb.axtree.text import print_delta
from dynaweb.axtree.tree import read_tree
from dynaweb.cli.saying import indented
from dynaweb.dataset.changes import Change, change_of
from dynaweb.records.action import print_action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Transition

CONTEXT_LINES = 2
MAX_DIFF_LINES = 120
"""A longer diff is cut, and says so; `--json` has all of it."""
MAX_FORM_LINES = 60
"""The same for the machine form."""

STYLES = {Mark.GONE: "red", Mark.NEW: "green", Mark.MOVED: "yellow", Mark.KEPT: "dim", Mark.RENUMBERED: "dim"}  # fmt: skip

Line = tuple[str, str]
"""Style and text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A transition and its state change, looked at once."""

    name: str
    """What it is, for people: `step 3 of webarena.7`."""
    transition: Transition
    change: Change
    lines: list[DiffLine]

    @property
    def words(self) -> str:
        """The change in plain English."""
        t = self.transition
        return describe_delta(t.observation, t.action, self.change.learned)


def look_at(name: str, transition: Transition) -> Look:
    """Work the change out."""
    old, new = transition.observation.tree, transition.next_observation.tree
    lines = line_diff(read_tree(old), read_tree(new))
    return Look(name=name, transition=transition, change=change_of(transition), lines=lines)


def transition_facts(look: Look) -> dict[str, object]:
    """What there is to say about a transition, ready for JSON."""
    t, change = look.transition, look.change
    return {
        "kind": "transition",
        "name": look.name,
        "action": print_action(t.action),
        "element": label_action(t.action, t.observation)
        .removeprefix(print_action(t.action))
        .strip(),
        "fault": t.fault.value if t.fault is not None else None,
        "terminal": t.terminal,
        "url": t.observation.url,
        "next_url": t.next_observation.url,
        "error": t.next_observation.last_action_error,
        "change": {
            "kind": change.learned.kind.value,
            "text": print_delta(change.learned),
            "words": look.words,
            "renumbered": len(change.delta.renumbered),
            "tokens": change.delta_tokens,
            "page_tokens": change.page_tokens,
            "ratio": _ratio(change),
            "exact": change.exact,
            "learnable": change.learnable,
        },
        "diff": [{"mark": line.mark.value, "text": line.text} for line in look.lines],
    }


def change_line(change: Change) -> str:
    """Kind and length of a change, on one line."""
    return f"{change.learned.kind.value}, {change.delta_tokens} tokens where the next page takes {change.page_tokens} (ratio {_ratio(change):.3g})"


def page_line(page: Observation) -> str:
    """A page on one line."""
    nodes = [n for n in read_tree(page.tree) if n.role]
    focus = f", focus on [{page.focused}]" if page.focused is not None else ""
    return f"{page.title!r} {page.url}  {len(nodes)} elements, {sum(n.bid is not None for n in nodes)} with an id{focus}"


def transition_lines(look: Look) -> Iterator[Line]:
    """The same for people, line by line."""
    t, change = look.transition, look.change
    yield "bold", f"transition {look.name}"
    yield "", f"page      {page_line(t.observation)}"
    yield "", f"action    {label_action(t.action, t.observation)}"
    if t.fault is not None:
        yield "yellow", f"fault     {t.fault.value}: the action did not happen"
    yield "", f"next page {page_line(t.next_observation)}"
    if t.terminal:
        yield "", "end       the episode ended here: models learn the one word `end`"
    yield "", f"change    {change_line(change)}"
    yield from _proof(change)
    yield "", ""
    yield "bold", "diff      - gone, + new, > moved, # the same under another id"
    yield from _diff(look)
    yield "", ""
    yield "bold", "change as models write it"
    form = print_delta(change.learned).split("\n")
    yield from (("", f"  {indented(line)}") for line in form[:MAX_FORM_LINES])
    if len(form) > MAX_FORM_LINES:
        yield "dim", f"  ... {len(form) - MAX_FORM_LINES} more lines (--json has them)"
    yield "", ""
    yield "bold", "change in words"
    yield from (("", f"  {sentence}") for sentence in look.words.split("\n"))


def _proof(change: Change) -> Iterator[Line]:
    if change.exact:
        renumbered = len(change.delta.renumbered)
        more = f", with {renumbered} ids renumbered" if renumbered else ""
        yield "", f"proof     applied to the page, it gives the next page byte for byte{more}"
    else:
        yield (
            "bold red",
            "proof     applied to the page, it does NOT give the next page: please report this file",
        )
    if change.exact and not change.learnable:
        yield (
            "yellow",
            "odd       without renumbering it does not: an id stands twice on the next page",
        )


def _diff(look: Look) -> Iterator[Line]:
    shown = with_context(look.lines, CONTEXT_LINES)
    for item in shown[:MAX_DIFF_LINES]:
        if isinstance(item, int):
            yield "dim", f"    ... {item} lines"
        else:
            yield STYLES[item.mark], f"{item.mark.value} {indented(item.text)}"
    if len(shown) > MAX_DIFF_LINES:
        yield (
            "dim",
            f"    ... {len(shown) - MAX_DIFF_LINES} more lines of the diff (--json has them)",
        )
    if not any(line.mark in (Mark.GONE, Mark.NEW, Mark.MOVED) for line in look.lines):
        yield "dim", "    the trees say the same"


def _ratio(change: Change) -> float:
    return round(change.delta_tokens / max(change.page_tokens, 1), 4)
