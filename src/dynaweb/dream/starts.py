"""Where dreams begin: real pages, first ones and ones in between (DynaWeb 4.1), with the expert's way on.

Which start comes k-th depends on the seed and k alone, so a killed run takes up with the next one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from dynaweb.errors import UserError
from dynaweb.records.action import print_action
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Behaviour, Outcome, Start, Trajectory, World


@dataclass(frozen=True, slots=True, kw_only=True)
class StartsConfig:
    """Which pages a dream may begin from."""

    intermediate_share: float = 0.5
    """Share of dreams that begin in the middle of an attempt, where the task has such starts."""
    min_remaining: int = 2
    """Fewest expert steps to the end from an intermediate start: one step from the end teaches nothing."""
    max_remaining: int = 5
    """Most expert steps to the end: a dream of five steps cannot finish what takes six."""
    adapt: bool = False
    """Dream more of the tasks whose groups taught something lately, fewer of those where all members did
    equally well (ours; papers F16). Off: every task equally often."""
    expert_share: float = 0.5
    """Share of dreams that begin where an expert was, so that the group has expert members; the
    others begin on pages that only the agent has seen. Demonstrations are few: without this share
    they would hardly be met."""
    only_with_expert: bool = False
    """Leave out starts that no expert passed through, such as the agent's own wrong turns."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.intermediate_share <= 1.0:
            raise UserError(
                f"starts intermediate_share {self.intermediate_share!r} is out of range: use 0 to 1"
            )
        if not 0.0 <= self.expert_share <= 1.0:
            raise UserError(
                f"starts expert_share {self.expert_share!r} is out of range: use 0 to 1"
            )
        if not 1 <= self.min_remaining <= self.max_remaining:
            raise UserError(
                f"starts min_remaining {self.min_remaining!r} must be from 1 to max_remaining {self.max_remaining!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPoint:
    """A place to begin, and every expert that was there."""

    start: Start
    experts: tuple[Trajectory, ...]
    """Successful suffixes from exactly here; empty when no expert passed."""
    own: tuple[Trajectory, ...] = ()
    """The agent's own real successes from here on: the third source (DynaWeb 1)."""

    @property
    def initial(self) -> bool:
        """The task's first page."""
        return not self.start.past

    @property
    def remaining(self) -> int | None:
        """Fewest steps in which an expert finished from here; None without one."""
        return min((len(e.steps) for e in self.experts), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPoints:
    """All places to begin: `seen == len(points) + sum(dropped.values())`."""

    points: tuple[StartPoint, ...]
    seen: int
    """States of all attempts."""
    dropped: dict[str, int]
    """Reason -> number of states."""


_Key = tuple[str, int, str, str, tuple[str, ...]]


def collect_starts(trajectories: Iterable[Trajectory], config: StartsConfig) -> StartPoints:
    """Every state of real attempts that a dream may begin from, once each, in order of appearance.

    Attempts of any behaviour give starts; only successes without a fault give suffixes.
    """
    found: dict[_Key, Start] = {}
    experts: dict[_Key, list[Trajectory]] = {}
    own: dict[_Key, list[Trajectory]] = {}
    dropped: Counter[str] = Counter()
    seen = 0
    for t in trajectories:
        seen += len(t.steps)
        if t.world is not World.LIVE:
            dropped["not_live"] += len(t.steps)
            continue
        for i in range(len(t.steps)):
            start = t.start_at(i)
            key = _key(start)
            dropped["same_as_another"] += key in found
            found.setdefault(key, start)
            if _demonstrates(t):
                experts.setdefault(key, []).append(t.suffix(i))
            elif _own_success(t):
                own.setdefault(key, []).append(t.suffix(i))
    needed = _needed(experts)
    points = []
    for key, start in found.items():
        point = StartPoint(
            start=start, experts=tuple(experts.get(key, ())), own=tuple(own.get(key, ()))
        )
        reason = _drop_reason(point, config, needed.get(start.task))
        if reason is None:
            points.append(point)
        else:
            dropped[reason] += 1
    return StartPoints(points=tuple(points), seen=seen, dropped=dict(+dropped))


NO_WEIGHTS: Mapping[str, float] = MappingProxyType({})


def pick_starts(
    points: Sequence[StartPoint],
    config: StartsConfig,
    *,
    seed: int,
    first: int,
    count: int,
    weights: Mapping[str, float] = NO_WEIGHTS,
) -> list[StartPoint]:
    """The starts number `first` to `first + count` of the endless seeded sequence.

    Tasks come in turn, each once a round in an order of its own, whatever number of states they have.
    With weights they are drawn instead.

    Args:
        points: all of them.
        config: share of intermediate starts.
        seed: of the sequence.
        first: number of the first start.
        count: how many.
        weights: task -> how often, relative to the others; a task without one counts 1.

    Raises:
        UserError: nothing to pick from.
    """
    if not points:
        raise UserError(
            "no place for a dream to begin: collect expert trajectories first, or widen the starts' min_remaining and max_remaining"
        )
    by_task: dict[str, list[StartPoint]] = {}
    for p in points:
        by_task.setdefault(p.start.task, []).append(p)
    tasks = sorted(by_task)
    picked = []
    for k in range(first, first + count):
        rng = Random(derive_seed(seed, "start", k))
        task = _drawn(tasks, weights, rng) if weights else _in_turn(tasks, seed, k)
        picked.append(_pick(by_task[task], config, rng))
    return picked


def _in_turn(tasks: Sequence[str], seed: int, k: int) -> str:
    round_, place = divmod(k, len(tasks))
    return Random(derive_seed(seed, "tasks", round_)).sample(tasks, len(tasks))[place]


def _drawn(tasks: Sequence[str], weights: Mapping[str, float], rng: Random) -> str:
    return rng.choices(tasks, [weights.get(t, 1.0) for t in tasks])[0]


def _pick(points: Sequence[StartPoint], config: StartsConfig, rng: Random) -> StartPoint:
    shown = [p for p in points if p.experts]
    if shown and len(shown) < len(points):
        wants_shown = rng.random() < config.expert_share
        points = shown if wants_shown else [p for p in points if not p.experts]
    initial = [p for p in points if p.initial]
    middle = [p for p in points if not p.initial]
    wants_middle = rng.random() < config.intermediate_share
    pool = (middle or initial) if wants_middle else (initial or middle)
    return pool[rng.randrange(len(pool))]


def _key(start: Start) -> _Key:
    """What makes two states the same place: page and the actions the prompt will show."""
    page = start.observation
    shown = f"{page.url}\x1f{page.tree}\x1f{page.last_action_error}"
    return start.task, start.seed, start.goal, shown, tuple(print_action(a) for a in start.prefix)


def _demonstrates(t: Trajectory) -> bool:
    clean = all(s.action is not None and s.fault is None for s in t.steps)
    shown = t.behaviour in (Behaviour.EXPERT, Behaviour.HUMAN)
    return shown and t.outcome is Outcome.SUCCESS and clean


def _own_success(t: Trajectory) -> bool:
    """Only replies that the policy itself wrote can be trained on as its own."""
    clean = all(s.generations and s.fault is None for s in t.steps)
    return t.behaviour is Behaviour.AGENT and t.outcome is Outcome.SUCCESS and clean


def _needed(experts: Mapping[_Key, Sequence[Trajectory]]) -> dict[str, int]:
    """Task -> fewest actions in which an expert did it from its first page."""
    fewest: dict[str, int] = {}
    for suffixes in experts.values():
        for t in suffixes:
            if not t.past:
                fewest[t.task] = min(fewest.get(t.task, len(t.steps)), len(t.steps))
    return fewest


def _drop_reason(point: StartPoint, config: StartsConfig, needed: int | None) -> str | None:
    remaining = point.remaining
    if remaining is None:
        if point.initial and needed is not None and needed > config.max_remaining:
            return "too_far_from_the_end"
        return "no_expert" if config.only_with_expert else None
    if remaining > config.max_remaining:
        return "too_far_from_the_end"
    if not point.initial and remaining < config.min_remaining:
        return "too_near_the_end"
    return None
