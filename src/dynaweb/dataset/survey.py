"""What a set of trajectories holds, and what is odd about it: one pass, one trajectory in memory at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median

from dynaweb.axtree.tree import read_tree
from dynaweb.dataset.imports.recorded import UNEXPLAINED_LINE
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.surrogates import without_surrogates
from dynaweb.records.action import print_action, target_bids
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step, Trajectory


@dataclass(slots=True, kw_only=True)
class Survey:
    """Counts, in the order things were met."""

    trajectories: int = 0
    steps: int = 0
    transitions: int = 0
    """Steps with an action and a next page."""
    unchanged: int = 0
    """Transitions whose next page is the same: address, tree, focus, scroll and tabs; pages that were not recorded are not compared."""
    lengths: list[int] = field(default_factory=list)
    """Steps of each trajectory."""
    tasks: dict[str, int] = field(default_factory=dict)
    """Task -> trajectories."""
    endings: dict[str, int] = field(default_factory=dict)
    """`outcome (reason)` -> trajectories."""
    faults: dict[str, int] = field(default_factory=dict)
    """Why actions did not happen -> steps."""
    actors: dict[str, int] = field(default_factory=dict)
    """`world world, by behaviour policy` -> trajectories."""
    licenses: dict[str, int] = field(default_factory=dict)
    """Licence, empty when unknown -> trajectories."""

    @property
    def median_steps(self) -> float:
        """Median number of steps; 0 without trajectories."""
        return median(self.lengths) if self.lengths else 0.0


def survey(trajectories: Iterable[Trajectory], tally: Tally) -> Survey:
    """Count them, and note in `tally` what is odd."""
    found = Survey()
    unexplained = Tally()
    seen: set[str] = set()
    for t in trajectories:
        found.trajectories += 1
        found.steps += len(t.steps)
        found.lengths.append(len(t.steps))
        _add(found.tasks, t.task)
        _add(found.endings, f"{t.outcome} ({t.reason})")
        _add(found.actors, f"{t.world} world, by {t.behaviour} {t.policy_version}".rstrip())
        _add(found.licenses, t.license)
        for change in t.transitions():
            found.transitions += 1
            is_recorded = bool(change.observation.tree.strip())
            found.unchanged += is_recorded and _same(change.observation, change.next_observation)
        if t.trajectory_id in seen:
            tally.note("trajectory id stands twice", repr(t.trajectory_id[:80]))
        seen.add(t.trajectory_id)
        for step in t.steps:
            if step.fault is not None:
                _add(found.faults, step.fault)
        for reason, where, count in _odd(t):
            (unexplained if reason == UNEXPLAINED_LINE else tally).note(reason, where, count)
    if UNEXPLAINED_LINE not in tally.noted:  # a reader of other tools' trees has counted them
        for where in unexplained.first.values():
            tally.note(UNEXPLAINED_LINE, where, unexplained.noted[UNEXPLAINED_LINE])
    return found


def _add(counts: dict[str, int], key: str) -> None:
    counts[key] = counts.get(key, 0) + 1


def _same(one: Observation, other: Observation) -> bool:
    return _shown(one) == _shown(other)


def _shown(page: Observation) -> tuple[object, ...]:
    return (page.url, page.tree, page.focused, page.scroll, page.tabs, page.active_tab)


Odd = tuple[str, str, int]
"""What is odd, where, and how often."""


def _odd(t: Trajectory) -> Iterator[Odd]:
    name = repr(t.trajectory_id[:80])
    if not t.steps:
        yield "trajectory without steps", name, 1
        return
    after = [s.observation for s in t.steps[1:]] + [t.final]
    for number, (step, following) in enumerate(zip(t.steps, after, strict=True), start=1):
        yield from _odd_step(step, following, f"{name} step {number}")


def _odd_step(step: Step, following: Observation | None, where: str) -> Iterator[Odd]:
    page = step.observation
    texts = [page.tree, page.title, page.url, step.thought]
    texts += [print_action(step.action)] if step.action is not None else []
    halves = sum(without_surrogates(text)[1] for text in texts)
    yield "half of a surrogate pair, which no UTF-8 holds", where, halves
    if not page.tree.strip():
        yield "page is empty", where, 1
        return
    nodes = read_tree(page.tree)
    yield UNEXPLAINED_LINE, where, sum(not n.role for n in nodes)
    wanted = target_bids(step.action) if step.action is not None else ()
    bids = [n.bid for n in nodes if n.bid is not None]
    for bid in wanted:
        here = f"{where}: {bid[:40]!r}"
        if bid not in bids and step.fault is None:
            yield "action names an element that its page does not have", here, 1
        if bids.count(bid) > 1:
            yield "action names an id that stands twice on its page", here, 1
    if following is not None and following.last_action_error and not _same(page, following):
        yield "an error was reported although the page changed", where, 1
