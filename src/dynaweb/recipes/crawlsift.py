"""The trajectory filter of a crawl, by rule alone (WebWorld 3.3): from the log of steps to trajectories, every step accounted for.

seen = kept + kept between + unchanged + trimmed + steps of dropped visits
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from dynaweb.axtree.diff import diff
from dynaweb.collect.crawl.config import Source
from dynaweb.collect.crawl.log import Event
from dynaweb.collect.crawl.visit import VERSION
from dynaweb.errors import UserError
from dynaweb.records.action import action_name
from dynaweb.records.delta import DeltaKind
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import (
    Behaviour,
    Outcome,
    Reason,
    Step,
    Trajectory,
    Transition,
    World,
)
from dynaweb.world.data.keys import Neighbours, Sketcher, action_key

CHARS_PER_TOKEN = 3
"""As `world data` counts where no tokenizer is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiftRules:
    """What a trajectory must be to be kept."""

    max_tokens: int = 30_000
    """Of all its pages together, a token for 3 characters; longer ones are dropped (WebWorld 3.3)."""
    max_steps: int = 30
    """More are dropped (WebWorld 3.3)."""
    banned: tuple[str, ...] = ()
    """Words that no page, title or address may hold, in any case."""
    near: float = 0.9
    """Estimated Jaccard similarity of the lines of both pages from which a transition of the same action is one that is there
    already; 0 for never (ours)."""

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.max_steps < 1:
            raise UserError("limits of a trajectory must be at least 1 token and 1 step")
        if self.near != 0 and not 0.5 < self.near <= 1.0:
            raise UserError(f"near {self.near!r} is out of range: use 0, or above 0.5 up to 1")


@dataclass(slots=True, kw_only=True)
class SiftTally:
    """What was kept and dropped."""

    seen_steps: int = 0
    seen_visits: int = 0
    kept_visits: int = 0
    dropped_visits: Counter[str] = field(default_factory=Counter)
    """By reason."""
    steps: Counter[str] = field(default_factory=Counter)
    """Steps by what became of them; they add up to `seen_steps`."""
    actions: Counter[str] = field(default_factory=Counter)
    """Kept transitions by the name of the action."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Kept transitions by what the action changed (`axtree.diff`)."""
    faults: Counter[str] = field(default_factory=Counter)
    """Kept transitions whose action was refused, by fault."""
    pages: Counter[str] = field(default_factory=Counter)
    """Different addresses on kept pages, by site."""

    @property
    def kept_steps(self) -> int:
        """Transitions in the file."""
        return self.steps["kept"] + self.steps["kept between"]

    @property
    def local_share(self) -> float | None:
        """Of the kept transitions that changed something, those that left the page in place, in [0, 1]; None without any."""
        local = self.kinds[DeltaKind.LOCAL.value]
        changed = sum(self.kinds.values()) - self.kinds[DeltaKind.NONE.value]
        return local / changed if changed else None


def trajectories_of(events: Iterable[Event], sources: Iterable[Source]) -> Iterator[Trajectory]:
    """One trajectory for every visit that is over and saw a page; visits in the order in which they ended."""
    by_origin = {s.origin: s for s in sources}
    under_way: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        under_way[event.visit].append(event)
        if event.end is not None:
            yield _trajectory(under_way.pop(event.visit), by_origin)


def _trajectory(events: list[Event], by_origin: dict[str, Source]) -> Trajectory:
    *pages, end = events
    first = pages[0] if pages else end
    parts = urlsplit(first.url)
    origin = f"{parts.scheme}://{parts.netloc}"
    source = by_origin.get(origin, Source(origin=origin))
    seen = [e.page for e in pages if e.page is not None]
    steps = [
        Step(observation=page, action=after.action, fault=after.fault)
        for page, after in zip(seen, pages[1:], strict=False)
    ]
    if end.action is not None and seen:
        steps.append(Step(observation=seen[-1], action=end.action))
    assert end.end is not None
    return Trajectory(
        trajectory_id=f"crawl/{end.visit}",
        task=first.url,
        goal=f"Explore {origin}.",
        seed=first.seed,
        steps=tuple(steps),
        final=seen[-1] if seen and end.action is None else None,
        outcome=Outcome.FAILURE if end.end is Reason.OUT_OF_STEPS else Outcome.UNKNOWN,
        reason=end.end,
        detail=end.detail,
        world=World.LIVE,
        behaviour=Behaviour.RANDOM,
        policy_version=VERSION,
        license=source.license,
        origin=source.name or source.origin,
    )


class Sieve:
    """Keeps what is new. One for a whole crawl: what is a near-duplicate depends on what was kept before."""

    def __init__(self, rules: SiftRules) -> None:
        """Nothing is kept yet.

        Raises:
            MissingDependencyError: near-duplicates need a package that is not there.
        """
        self._rules = rules
        self._sketcher = Sketcher() if rules.near else None
        self._met = Neighbours()
        self._addresses: set[str] = set()
        self.tally = SiftTally()

    def sift(self, trajectory: Trajectory) -> Trajectory | None:
        """What is kept of an attempt; None when it is dropped. Counted."""
        transitions = trajectory.transitions()
        tally = self.tally
        tally.seen_visits += 1
        tally.seen_steps += len(transitions)
        reason = "nothing was done" if not transitions else self._refusal(trajectory)
        if reason:
            self._drop(reason, len(transitions))
            return None
        moved: list[tuple[Transition, DeltaKind]] = [
            (t, kind) for t in transitions if (kind := _kind(t)) is not DeltaKind.NONE
        ]
        tally.steps["unchanged"] += len(transitions) - len(moved)
        if not moved:
            self._drop("nothing changed", 0)
            return None
        new = [self._is_new(t, trajectory.trajectory_id) for t, _ in moved]
        if not any(new):
            self._drop("near-duplicate", len(moved))
            return None
        last = max(i for i, is_new in enumerate(new) if is_new) + 1
        tally.steps["near-duplicate, trimmed"] += len(moved) - last
        tally.steps["kept"] += sum(new)
        tally.steps["kept between"] += last - sum(new)
        tally.kept_visits += 1
        self._count(moved[:last])
        return _cut(trajectory, [t for t, _ in moved[:last]], trimmed=last < len(moved))

    def _drop(self, reason: str, steps: int) -> None:
        self.tally.dropped_visits[reason] += 1
        if steps:
            self.tally.steps[f"of a dropped visit: {reason}"] += steps

    def _refusal(self, trajectory: Trajectory) -> str:
        pages = [s.observation for s in trajectory.steps]
        pages += [trajectory.final] if trajectory.final is not None else []
        for word in self._rules.banned:
            if any(_holds(page, word.lower()) for page in pages):
                return f"keyword {word!r}"
        if len(trajectory.steps) > self._rules.max_steps:
            return f"over {self._rules.max_steps} steps"
        chars = sum(len(page.tree) for page in pages)
        tokens = self._rules.max_tokens
        return f"over {tokens} tokens" if chars > tokens * CHARS_PER_TOKEN else ""

    def _is_new(self, t: Transition, name: str) -> bool:
        if self._sketcher is None:
            return True
        sketch = self._sketcher.sketch(t.observation, t.next_observation)
        key = action_key(t.observation, t.action) + ("!" if t.fault is not None else "")
        like, _ = self._met.nearest(key, sketch)
        if like >= self._rules.near:
            return False
        self._met.add(key, sketch, name)
        return True

    def _count(self, kept: list[tuple[Transition, DeltaKind]]) -> None:
        tally = self.tally
        for t, kind in kept:
            tally.actions[action_name(type(t.action))] += 1
            tally.kinds[kind.value] += 1
            if t.fault is not None:
                tally.faults[t.fault.value] += 1
            for page in (t.observation, t.next_observation):
                if page.url not in self._addresses:
                    self._addresses.add(page.url)
                    tally.pages[urlsplit(page.url).netloc or page.url] += 1


def _holds(page: Observation, word: str) -> bool:
    return any(word in text.lower() for text in (page.url, page.title, page.tree))


def _kind(t: Transition) -> DeltaKind:
    """What changed; a refusal that the agent is told of is a change."""
    if t.observation == t.next_observation:
        return DeltaKind.NONE
    delta = diff(t.observation, t.action, t.next_observation)
    told = delta.kind is DeltaKind.NONE and t.next_observation.last_action_error
    return DeltaKind.LOCAL if told else delta.kind


def _cut(trajectory: Trajectory, kept: list[Transition], *, trimmed: bool) -> Trajectory:
    """The attempt with these transitions alone: an unchanged page is the same page, so what follows still follows."""
    # the page that an action led to, rather than the equal one that an action without effect left without its error
    before = [kept[0].observation, *(t.next_observation for t in kept[:-1])]
    steps = tuple(
        Step(observation=page, action=t.action, fault=t.fault)
        for page, t in zip(before, kept, strict=True)
    )
    whole = replace(trajectory, steps=steps, final=kept[-1].next_observation)
    if not trimmed:
        return whole
    return replace(
        whole,
        outcome=Outcome.UNKNOWN,
        reason=Reason.RECORDING_STOPPED,
        detail="what followed was there already",
    )
