"""What is measured of live episodes, and what comes out of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dynaweb.bench.speed.spread import Estimate, Spread

OURS = "dynaweb"
AS_IT_COMES = "browsergym"
BY_HAND = "browsergym tuned"
GOALS: Mapping[str, float] = {AS_IT_COMES: 5.0, BY_HAND: 1.3}
"""Times as many episodes a second as the rival, at least (ours)."""
WORKERS_GOAL = 1.3
"""Times as many episodes a second with two workers on two cores, at least (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One attempt, fixed before anything is timed, so that every arm does the same."""

    task: str
    seed: int
    """What BrowserGym is given."""
    page_seed: int
    """What the page is given: BrowserGym draws it from `seed`."""
    actions: tuple[str, ...]
    """In the grammar of `records.action`, with our numbers."""
    rival_actions: tuple[str, ...] = ()
    """The same actions on the same elements, with BrowserGym's numbers."""
    ended: bool
    """The page itself ended the attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One way in which the two observations of a page differ."""

    kind: str
    count: int
    example: str
    """Task, theirs and ours, of the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What both see of the same pages: elements that BrowserGym gives a bid to, looked up in ours."""

    pages: int = 0
    elements: int = 0
    same: int = 0
    """Of the elements, those with the same role and name in ours."""
    controls: int = 0
    """Of the elements, those that can be acted on by their role."""
    controls_same: int = 0
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One task, once its episodes are fixed."""

    task: str
    episodes: tuple[Episode, ...]
    left_out: tuple[str, ...]
    """Why an episode cannot be measured, one line each."""
    sight: Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """All episodes of a task in one arm, one after the other."""

    task: str
    arm: str
    episodes: int
    steps: int
    sec: float
    """Wall clock, with closing and all that was begun in the background."""
    reset_sec: float
    diverged: int
    """Episodes that did not end where the fixed one did."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Seconds by `browser.stopwatch.Part`; ours alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """All episodes once, by a number of workers in one process and one browser."""

    number: int
    workers: int
    episodes: int
    sec: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSpeed:
    """One arm, over blocks; intervals are 95 % percentile bootstrap over blocks."""

    arm: str
    blocks: int
    episodes: int
    steps: int
    diverged: int
    episodes_per_sec: Estimate
    steps_per_sec: Estimate
    episode_ms: Estimate
    """Median over blocks."""
    reset_ms: Estimate
    """Median over blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """Ours beside a rival, block by block."""

    rival: str
    blocks: int
    times: Estimate
    """Episodes a second, ours by theirs: the ratio of the sums."""
    median_times: Estimate
    """The same of each block; the median."""
    goal: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """More workers beside one, round by round."""

    workers: int
    times: Spread
    """Episodes a second, by those of one worker in the same round."""
    one_episodes_per_sec: Spread
    more_episodes_per_sec: Spread
    goal: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveReport:
    """What was measured."""

    commit: str
    machine: Mapping[str, str | int]
    versions: Mapping[str, str]
    browser: str
    """The program that every arm drove."""
    tasks: tuple[str, ...]
    left_out: tuple[str, ...]
    arms: tuple[ArmSpeed, ...]
    parts_ms: Mapping[str, float]
    """Milliseconds of an episode by part; `rest` is what is in none."""
    against: tuple[Against, ...]
    gain: Gain | None
    sight: Sight | None
    """None where BrowserGym was not asked."""
