"""One whole measurement: reading, state changes, growth and alternatives, on made-up pages or a recording."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.bench.speed.made import made_pairs
from dynaweb.bench.speed.measure import (
    ChangeSpeed,
    Growth,
    ParseSpeed,
    change_speed,
    growth,
    parse_speed,
    recording_speed,
)
from dynaweb.bench.speed.rivals import RIVALS, Rivalry, compare
from dynaweb.errors import UserError
from dynaweb.records.trajectory import Trajectory, Transition
from dynaweb.runs.provenance import provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedWish:
    """What to measure."""

    lines: int = 280
    """Lines of a made-up page: the median of the public WebArena traces."""
    pairs: int = 60
    """Pairs of pages that changes are made for; of a recording, spread evenly over its beginning."""
    repeats: int = 5
    against: bool = False
    rival_pairs: int = 6
    """Pairs that the alternatives are given too."""
    every: int = 1
    """Of a recording every so many-th transition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedReport:
    """What was measured."""

    source: str
    """`made-up pages`, or the recording's name."""
    commit: str
    machine: dict[str, str | int]
    parse: tuple[ParseSpeed, ...]
    change: ChangeSpeed
    growth: tuple[Growth, ...]
    rivals: tuple[Rivalry, ...]
    left_out: tuple[str, ...]
    """Alternatives that none of the pairs is small enough for."""


def measure_speed(
    wish: SpeedWish, source: str = "", recording: Iterable[Trajectory] = ()
) -> SpeedReport:
    """Measure everything.

    Args:
        wish: how much.
        source: name of the recording; made-up pages are measured when it is empty.
        recording: its trajectories; read no further than the wish needs.

    Raises:
        UserError: the recording holds no transition.
        MissingDependencyError: an alternative is not installed.
    """
    pairs = list(_taken(recording, wish) if source else made_pairs(wish.lines, wish.pairs, seed=1))
    if not pairs:
        raise UserError(f"{source!r} holds no transition: a page, an action and the next page")
    rivals = {r: compare(r, pairs[: wish.rival_pairs]) for r in RIVALS} if wish.against else {}
    parse = [parse_speed(d, lines=wish.lines, repeats=wish.repeats) for d in Dialect]
    if source:
        parse.append(
            recording_speed([t.next_observation.tree for t in pairs], repeats=wish.repeats)
        )
    ran = provenance()
    return SpeedReport(
        source=source or "made-up pages",
        commit=ran.commit,
        machine=ran.machine,
        parse=tuple(parse),
        change=change_speed(pairs),
        growth=tuple(growth(repeats=wish.repeats)),
        rivals=tuple(found for found in rivals.values() if found is not None),
        left_out=tuple(rival for rival, found in rivals.items() if found is None),
    )


def _taken(recording: Iterable[Trajectory], wish: SpeedWish) -> Iterator[Transition]:
    """Transitions of a recording, some of them, until there are enough."""
    taken = number = 0
    for trajectory in recording:
        for transition in trajectory.transitions():
            if number % wish.every == 0:
                yield transition
                taken += 1
                if taken == wish.pairs:
                    return
            number += 1
