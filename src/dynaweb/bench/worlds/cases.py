"""Real transitions to be imagined: one a question, with who acted and where; drawn fairly by a seed."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from dynaweb.contracts import Imagine
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory, World
from dynaweb.world.steps import Known, known_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A transition, and where it comes from."""

    known: Known
    site: str
    """The trajectory's origin; the host of the page where that is not known."""
    behaviour: str
    """Who chose the action: `records.trajectory.Behaviour`."""
    policy: str
    """The policy's version, as its trajectory names it."""

    @property
    def case_id(self) -> str:
        """Trajectory and step, the step from 0."""
        return f"{self.known.trajectory_id}#{self.known.index}"

    @property
    def kind(self) -> str:
        """Name of the action: `click`, `fill`, ..."""
        return type(self.known.action).__name__.lower()

    def checksum(self) -> str:
        """SHA-256 of everything that a model may see, and of the truth."""
        k = self.known
        seen = (k.history, k.done, k.action, k.goal, k.seed, k.next_page, k.terminal)
        return hashlib.sha256(repr(seen).encode("utf-8", "surrogatepass")).hexdigest()


def find_cases(trajectories: Iterable[Trajectory]) -> tuple[list[Case], dict[str, int]]:
    """Every transition of real attempts, and what was left out: reason -> count.

    A dream is no truth: its steps are left out. So is a step whose page was not seen afterwards, and a second
    copy of an attempt with the same id.
    """
    cases: list[Case] = []
    dropped: Counter[str] = Counter()
    seen: set[str] = set()
    for t in trajectories:
        if t.world is not World.LIVE:
            dropped["step of a dream: no truth"] += len(t.steps)
            continue
        if t.trajectory_id in seen:
            dropped["step of an attempt that stands twice"] += len(t.steps)
            continue
        seen.add(t.trajectory_id)
        found = [_case(t, known) for known in known_steps(t)]
        dropped["step without an action or a next page"] += len(t.steps) - len(found)
        cases += found
    return cases, {reason: n for reason, n in dropped.items() if n}


def sample_cases(cases: Sequence[Case], limit: int | None, *, seed: int) -> list[Case]:
    """At most so many, groups (site, behaviour, task) in turn; the order of the cases does not matter.

    Within a group the draw is a hash of the case's id, so a larger limit keeps what a smaller one drew.
    """
    if limit is None or limit >= len(cases):
        return list(cases)
    groups: dict[tuple[str, str, str], list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.site, case.behaviour, case.known.task].append(case)
    ranked: list[tuple[int, int, str]] = []
    for name, alike in groups.items():
        drawn = sorted(derive_seed(seed, "sample", c.case_id) for c in alike)
        place = {drawn_seed: rank for rank, drawn_seed in enumerate(drawn)}
        turn = derive_seed(seed, "group", *name)
        ranked += [(place[derive_seed(seed, "sample", c.case_id)], turn, c.case_id) for c in alike]
    kept = {case_id for _, _, case_id in sorted(ranked)[:limit]}
    return [c for c in cases if c.case_id in kept]


def question(case: Case, *, show_goal: bool, goal: str | None = None) -> Imagine:
    """What a model is asked.

    Args:
        case: the transition.
        show_goal: whether the model is told the goal.
        goal: another goal than the real one.
    """
    known = case.known
    told = (known.goal if goal is None else goal) if show_goal else None
    return Imagine(
        history=known.history,
        action=known.action,
        done=known.done,
        goal=told,
        seed=derive_seed(known.seed, "fidelity", known.trajectory_id, known.index),
    )


def _case(t: Trajectory, known: Known) -> Case:
    return Case(
        known=known,
        site=t.origin or urlsplit(known.history[-1].url).netloc or "unknown",
        behaviour=t.behaviour.value,
        policy=t.policy_version,
    )
