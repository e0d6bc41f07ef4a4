"""How often the rules were right, on real steps: they are measured like the model, not believed.

A rule that settles a step is wrong when the page changed in another way. A rule that did its part
beforehand is wrong when the real page undid it. The gate is wrong when the browser did what the gate
refuses, or refused what the gate lets through (covered elements and the like: only the page knows).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dynaweb.axtree.tree import read_tree
from dynaweb.bench.results import Share
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.rules import Ruled, apply_rules
from dynaweb.world.shown import equal_as_shown
from dynaweb.world.steps import Known, known_steps

_NOTHING = Share()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """One rule on real steps that did not end the episode."""

    rule: str
    settled_right: Share = _NOTHING
    """Of the steps it settled, those whose next page it gave."""
    stood: Share = _NOTHING
    """Of the steps it began, those whose real page kept what it did."""
    whole: Share = _NOTHING
    """Of the steps it began, those where nothing else changed."""

    def __add__(self, other: "RuleRow") -> "RuleRow":
        return RuleRow(
            rule=self.rule,
            settled_right=self.settled_right + other.settled_right,
            stood=self.stood + other.stood,
            whole=self.whole + other.whole,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleReport:
    """The rules against the real web."""

    by_rule: tuple[RuleRow, ...]
    """`none` counts the steps that no rule knew anything of."""
    gate_agrees: Share
    """Of all steps, those that gate and browser both did, or both refused."""
    refused_by_the_page: int
    """Steps that only the browser refused."""
    refused_by_the_gate: int
    """Steps that only the gate refused: each is a bug."""
    focus_right: Share
    """Of the steps that did not end the episode, those where the keyboard is where the rules say."""


def check_rules(trajectories: Iterable[Trajectory]) -> RuleReport:
    """Count, on real attempts; training ones will do, since rules learn nothing."""
    rows: dict[str, RuleRow] = defaultdict(lambda: RuleRow(rule=""))
    agrees, focus = Share(), Share()
    by_page = by_gate = 0
    for trajectory in trajectories:
        for known in known_steps(trajectory):
            ruled = apply_rules(known.history, known.action)
            same = (ruled.fault is None) == (known.fault is None)
            agrees += Share(hits=int(same), n=1)
            by_page += int(ruled.fault is None and not same)
            by_gate += int(ruled.fault is not None and not same)
            if known.terminal:
                continue
            at = ruled.page.focused == known.next_page.focused
            focus += Share(hits=int(at), n=1)
            name = ruled.rule or "none"
            row = rows[name] + _row(ruled, known)
            rows[name] = RuleRow(
                rule=name, settled_right=row.settled_right, stood=row.stood, whole=row.whole
            )
    return RuleReport(
        by_rule=tuple(rows[name] for name in sorted(rows)),
        gate_agrees=agrees,
        refused_by_the_page=by_page,
        refused_by_the_gate=by_gate,
        focus_right=focus,
    )


def _row(ruled: Ruled, known: Known) -> RuleRow:
    equal = equal_as_shown(ruled.page, known.next_page, ruled.page)
    if ruled.settled:
        return RuleRow(rule="", settled_right=Share(hits=int(equal), n=1))
    stood = _kept(ruled, known.next_page)
    return RuleRow(rule="", stood=Share(hits=int(stood), n=1), whole=Share(hits=int(equal), n=1))


def _kept(ruled: Ruled, real: Observation) -> bool:
    """Whether the real page has what the rule set, on the elements that are still there."""
    ours = {n.bid: n for n in read_tree(ruled.page.tree)}
    theirs = {n.bid: n for n in read_tree(real.tree)}
    return all(
        ours[bid].attr(key) == theirs[bid].attr(key) for bid, key in ruled.touched if bid in theirs
    )
