"""How well state changes do on real transitions: exact or not, and how long beside the next page."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import median

from dynaweb.axtree.apply import apply
from dynaweb.axtree.diff import diff, without_renumbering
from dynaweb.axtree.measure import DeltaCost, delta_costs
from dynaweb.axtree.same import same_page
from dynaweb.axtree.text import parse_delta, print_delta
from dynaweb.axtree.tree import read_tree
from dynaweb.errors import DeltaError
from dynaweb.records.delta import Delta, DeltaKind
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Trajectory, Transition

_WORD = re.compile(r"\w+")


@lru_cache(maxsize=8)
def rough_tokens(text: str) -> int:
    """Words, signs and blanks: a count that needs no tokenizer, fair to both sides of a ratio."""
    signs, words = _WORD.subn("", text)
    return words + len(signs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One transition's state change, and how well it does."""

    delta: Delta
    """With renumbering: gives the next page byte for byte."""
    learned: Delta
    """Without: the form that models learn."""
    exact: bool
    """`apply(o, diff(o, o')) == o'`, byte for byte."""
    reparsed: bool
    """The compact form reads back as the same change."""
    learnable: bool
    """The form that models learn gives the next page up to its numbers."""
    delta_tokens: int
    """Rough tokens of the form that models learn."""
    page_tokens: int
    """Rough tokens of the next page's tree."""
    diff_ms: float
    """Time that `diff` took, in milliseconds."""


def change_of(t: Transition) -> Change:
    """The state change of a transition."""
    began = time.perf_counter()
    delta = diff(t.observation, t.action, t.next_observation)
    took = 1000 * (time.perf_counter() - began)
    learned = without_renumbering(delta)
    guess = _applied(t, learned)
    return Change(
        delta=delta,
        learned=learned,
        exact=_applied(t, delta) == t.next_observation,
        reparsed=_reads_back(delta),
        learnable=guess is not None and same_page(guess, t.next_observation),
        delta_tokens=rough_tokens(print_delta(learned)),
        page_tokens=rough_tokens(t.next_observation.tree),
        diff_ms=took,
    )


@dataclass(slots=True, kw_only=True)
class ChangeReport:
    """What was measured; counts are transitions."""

    transitions: int = 0
    exact: int = 0
    """`apply(o, diff(o, o')) == o'`, byte for byte."""
    reparsed: int = 0
    """The compact form reads back as the same change."""
    learned: int = 0
    """Without renumbering, the form that models learn, the next page up to its numbers."""
    repeats: int = 0
    """Next pages on which an id stands twice: there `learned` may fail, since ids name no one element."""
    failed: list[str] = field(default_factory=list)
    """The first transitions that were not exact."""
    diff_ms: float = 0.0
    """Median time of `diff`, in milliseconds."""
    kinds: dict[DeltaKind, DeltaCost] = field(default_factory=dict)
    """Cost by kind, in rough tokens of the form that models learn."""


def measure_changes(trajectories: Iterable[Trajectory]) -> ChangeReport:
    """Measure every transition; pages are held one trajectory at a time."""
    report = ChangeReport()
    times: list[float] = []
    report.kinds = delta_costs(_measured(trajectories, report, times), rough_tokens)
    report.diff_ms = median(times) if times else 0.0
    return report


def _measured(
    trajectories: Iterable[Trajectory], report: ChangeReport, times: list[float]
) -> Iterator[tuple[Delta, str]]:
    for trajectory in trajectories:
        for number, t in enumerate(trajectory.transitions()):
            change = change_of(t)
            times.append(change.diff_ms)
            _count(t, change, report, f"{trajectory.trajectory_id[:80]!r} transition {number}")
            yield change.learned, t.next_observation.tree


def _count(t: Transition, change: Change, report: ChangeReport, where: str) -> None:
    report.transitions += 1
    report.exact += change.exact
    report.reparsed += change.reparsed
    report.learned += change.learnable
    bids = [n.bid for n in read_tree(t.next_observation.tree) if n.bid is not None]
    report.repeats += len(bids) != len(set(bids))
    if not change.exact and len(report.failed) < 10:
        report.failed.append(where)


def _applied(t: Transition, delta: Delta) -> Observation | None:
    try:
        return apply(t.observation, t.action, delta)
    except DeltaError:
        return None


def _reads_back(delta: Delta) -> bool:
    try:
        return parse_delta(print_delta(delta)) == delta
    except DeltaError:
        return False
