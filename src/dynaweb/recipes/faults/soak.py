"""Many real episodes in one browser: do memory, descriptors and processes grow?

A slope is fitted to the means of 20 batches of episodes, the first fifth left out: neighbours are alike, batches
hardly, so that the usual t interval of the slope holds (batch means; Law and Kelton, Simulation Modeling and Analysis).
"""

import itertools
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment, miniwob_world
from dynaweb.browser.family import Usage, usage
from dynaweb.collect.experts import EXPERTS
from dynaweb.errors import UserError
from dynaweb.records.trajectory import Behaviour, Reason
from dynaweb.rollout.episode import EpisodeConfig, run_episode
from dynaweb.rollout.workers import work_through
from dynaweb.runs.progress import Progress

BATCHES = 20
T_QUANTILE = 2.101
"""0.975 quantile of Student's t with 18 degrees of freedom: 20 batches, 2 numbers fitted."""
WARM_SHARE = 0.2
LEAST_EPISODES = 200
ALLOWED = {"rss_mb": 100.0, "descriptors": 5.0, "processes": 1.0}
"""Growth over 500 episodes that is let pass; more of it, beyond chance, is a leak."""
PER = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """How one number grew."""

    what: str
    first: float
    """Mean of the first batch after the warm-up."""
    last: float
    """Mean of the last batch."""
    growth: float
    """For 500 episodes, in the unit of the number."""
    low: float
    high: float
    """95 % interval of the growth."""
    allowed: float

    @property
    def ok(self) -> bool:
        """No growth beyond chance, or no more than is allowed."""
        return self.low <= 0 or self.growth <= self.allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakReport:
    """A long run."""

    episodes: int
    workers: int
    seconds: float
    """Wall clock."""
    broken: int
    """Episodes that the browser lost."""
    slopes: tuple[Slope, ...]

    @property
    def ok(self) -> bool:
        """Nothing grows, and no episode was lost."""
        return not self.broken and all(s.ok for s in self.slopes)


async def soak(
    episodes: int, workers: int, tasks: Sequence[str], config: BrowserConfig, progress: Progress
) -> SoakReport:
    """Run scripted experts on MiniWoB++ pages; what this process and its browser hold is read after each episode.

    Args:
        episodes: how many, at least 200.
        workers: at a time.
        tasks: in turn; they must have a scripted expert.
        config: settings of the browser.
        progress: told after each episode.

    Raises:
        UserError: too few episodes, or a task without an expert.
        MissingDependencyError: browser or pages are missing.
    """
    if episodes < LEAST_EPISODES:
        raise UserError(f"{episodes} episodes say nothing of growth: use {LEAST_EPISODES} or more")
    for task in tasks:
        if task not in EXPERTS:
            raise UserError(f"task {task!r} has no scripted expert: see `dynaweb tasks --experts`")
    seen: list[Usage] = []
    broken = 0
    begun = time.monotonic()

    async def one(env: BrowserEnvironment, index: int) -> bool:
        task = tasks[index % len(tasks)]
        how = EpisodeConfig(max_steps=EXPERTS[task].steps + 2)
        done = await run_episode(
            env,
            EXPERTS[task],
            trajectory_id=f"soak-{index}",
            task=task,
            seed=index,
            config=how,
            behaviour=Behaviour.EXPERT,
        )
        return done.reason is Reason.BROWSER_FAULT

    def keep(index: int, lost: bool) -> None:
        nonlocal broken
        broken += lost
        seen.append(usage(os.getpid()))
        progress(
            "soak", len(seen), episodes, f"{seen[-1].rss_mb:.0f} MB, {seen[-1].processes} processes"
        )

    async with miniwob_world(config) as make_env:
        await work_through(range(episodes), make_env, one, keep, workers=workers)
    return SoakReport(
        episodes=episodes,
        workers=workers,
        seconds=time.monotonic() - begun,
        broken=broken,
        slopes=tuple(fitted(what, read, seen) for what, read in _NUMBERS.items()),
    )


_NUMBERS: dict[str, Callable[[Usage], float]] = {
    "rss_mb": lambda u: u.rss_mb,
    "descriptors": lambda u: float(u.descriptors),
    "processes": lambda u: float(u.processes),
}


def fitted(what: str, read: Callable[[Usage], float], seen: Sequence[Usage]) -> Slope:
    """The slope of one number over episodes.

    Args:
        what: its name in `ALLOWED`.
        read: the number.
        seen: one for each episode, in order; at least 200.
    """
    kept = [read(u) for u in seen[round(len(seen) * WARM_SHARE) :]]
    edges = [round(i * len(kept) / BATCHES) for i in range(BATCHES + 1)]
    middles = [(a + b - 1) / 2 for a, b in itertools.pairwise(edges)]
    means = [statistics.fmean(kept[a:b]) for a, b in itertools.pairwise(edges)]
    slope, intercept = statistics.linear_regression(middles, means)
    residual = sum((m - slope * x - intercept) ** 2 for x, m in zip(middles, means, strict=True))
    centre = statistics.fmean(middles)
    spread = sum((x - centre) ** 2 for x in middles)
    error = (residual / (BATCHES - 2) / spread) ** 0.5
    return Slope(
        what=what,
        first=means[0],
        last=means[-1],
        growth=slope * PER,
        low=(slope - T_QUANTILE * error) * PER,
        high=(slope + T_QUANTILE * error) * PER,
        allowed=ALLOWED[what],
    )
