"""Success rates, paired differences and their intervals.

Two questions, two kinds of interval. A *rate* has a Wilson interval: fresh seeds of these same tasks.
A *difference* of two arms is paired by (task, seed) and its interval comes from a bootstrap that draws
whole tasks: other tasks like these. An episode that ended `unknown` leaves its pair; it is counted and
never a zero (papers F24, F25).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from dynaweb.errors import UserError
from dynaweb.evaluate.config import StatisticsConfig
from dynaweb.records.trajectory import Outcome, Trajectory

DEFAULTS = StatisticsConfig()


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeOutcome:
    """How one arm did on one page."""

    task: str
    seed: int
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of episodes, and how sure it is."""

    successes: int
    n: int
    """Episodes that count: successes and failures."""
    unknown: int
    """Episodes left out, because the world or a model broke."""
    low: float
    """Lower end of the Wilson interval, in [0, 1]; 0 when n is 0."""
    high: float
    """Upper end; 1 when n is 0."""

    @property
    def rate(self) -> float | None:
        """In [0, 1]; None when nothing counts."""
        return self.successes / self.n if self.n else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Wins, losses and ties of the treatment, with the exact two-sided sign test on them."""

    wins: int
    losses: int
    ties: int
    p_value: float
    """Probability of a split at least this uneven if winning and losing were equally likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """Treatment minus control on the same pages."""

    treatment: str
    control: str
    difference: float | None
    """Of success rates over the pairs, in [-1, 1]; None without a pair."""
    low: float
    high: float
    """Interval of the difference, from a bootstrap that draws whole tasks."""
    confidence: float
    pairs: int
    left_out: int
    """Pairs of which an episode is unknown."""
    tasks: int
    episodes: Tally
    """By episode: the p-value is McNemar's exact test."""
    by_task: Tally
    """By task mean."""

    @property
    def excludes_zero(self) -> bool:
        """The interval lies on one side of zero."""
        return self.difference is not None and (self.low > 0.0 or self.high < 0.0)


def outcomes_of(trajectories: Sequence[Trajectory]) -> tuple[EpisodeOutcome, ...]:
    """What the statistics need of finished attempts."""
    return tuple(EpisodeOutcome(task=t.task, seed=t.seed, outcome=t.outcome) for t in trajectories)


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share (Wilson 1927); (0, 1) when n is 0."""
    if n == 0:
        return 0.0, 1.0
    z = float(stats.norm.ppf(0.5 + confidence / 2))
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return low, high


def shares_difference(
    ours: tuple[int, int], theirs: tuple[int, int], confidence: float = 0.95
) -> tuple[float, float]:
    """Interval of the difference of two shares, (hits, n) each, from counts alone: Newcombe (1998), method 10.

    For two answers to the same questions it is too wide where they tend to be right together, never too
    narrow; (-1, 1) when an n is 0.
    """
    if not ours[1] or not theirs[1]:
        return -1.0, 1.0
    a, b = ours[0] / ours[1], theirs[0] / theirs[1]
    (a_low, a_high), (b_low, b_high) = wilson(*ours, confidence), wilson(*theirs, confidence)
    return a - b - math.hypot(a - a_low, b_high - b), a - b + math.hypot(a_high - a, b - b_low)


def success_rate(outcomes: Sequence[Outcome], confidence: float = 0.95) -> Rate:
    """Share of successes among the episodes that count."""
    successes = sum(o is Outcome.SUCCESS for o in outcomes)
    unknown = sum(o is Outcome.UNKNOWN for o in outcomes)
    n = len(outcomes) - unknown
    low, high = wilson(successes, n, confidence)
    return Rate(successes=successes, n=n, unknown=unknown, low=low, high=high)


def sign_test(wins: int, losses: int) -> float:
    """Exact two-sided binomial test that wins and losses are equally likely; 1 when there are none."""
    n = wins + losses
    tail = sum(math.comb(n, k) for k in range(min(wins, losses) + 1))
    return min(1.0, 2 * tail / (1 << n))


def paired_difference(
    treatment: tuple[str, Sequence[EpisodeOutcome]],
    control: tuple[str, Sequence[EpisodeOutcome]],
    config: StatisticsConfig = DEFAULTS,
) -> PairedDifference:
    """Compare two arms, each a name and its episodes, page by page.

    Raises:
        UserError: the arms were not run on the same (task, seed) pages, or one ran a page twice.
    """
    (name, ours), (other, theirs) = treatment, control
    a, b = _by_page(name, ours), _by_page(other, theirs)
    _require_same_pages((name, set(a)), (other, set(b)))
    known = sorted(p for p in a if Outcome.UNKNOWN not in (a[p], b[p]))
    gains: dict[str, list[int]] = {}
    for page in known:
        gain = (a[page] is Outcome.SUCCESS) - (b[page] is Outcome.SUCCESS)
        gains.setdefault(page[0], []).append(gain)
    sums = np.array([sum(g) for g in gains.values()], dtype=np.float64)
    counts = np.array([len(g) for g in gains.values()], dtype=np.float64)
    low, high = clustered_interval(sums, counts, config)
    return PairedDifference(
        treatment=name,
        control=other,
        difference=float(sums.sum() / counts.sum()) if known else None,
        low=low,
        high=high,
        confidence=config.confidence,
        pairs=len(known),
        left_out=len(a) - len(known),
        tasks=len(gains),
        episodes=_tally([g for per_task in gains.values() for g in per_task]),
        by_task=_tally([sum(g) for g in gains.values()]),
    )


def clustered_interval(
    sums: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    counts: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    config: StatisticsConfig,
) -> tuple[float, float]:
    """Interval of `sums.sum() / counts.sum()` from a bootstrap that draws whole clusters.

    The percentile interval of few clusters is too narrow; its levels are widened as in Hesterberg (2015),
    "What teachers should know about the bootstrap", section 5.3 (expanded percentile interval).

    Args:
        sums: total of each cluster, shape (clusters,).
        counts: size of each cluster, shape (clusters,); every one positive.
        config: confidence, draws and their seed.

    Returns:
        (low, high); (-1, 1) with fewer than two clusters, which say nothing about a third.
    """
    clusters = len(sums)
    if clusters < 2:
        return -1.0, 1.0
    tail = stats.t.ppf(0.5 + config.confidence / 2, clusters - 1)
    level = float(stats.norm.cdf(-math.sqrt(clusters / (clusters - 1)) * tail))
    draws = np.random.default_rng(config.seed).multinomial(
        clusters, np.full(clusters, 1.0 / clusters), size=config.resamples
    )
    low, high = np.quantile((draws @ sums) / (draws @ counts), [level, 1.0 - level])
    return float(low), float(high)


def clustered_mean(
    clusters: Sequence[tuple[float, int]], config: StatisticsConfig = DEFAULTS
) -> tuple[float, float | None, float | None]:
    """Mean of values that come in clusters, and its interval.

    Args:
        clusters: total and number of the values of each; at least one, every number positive.
        config: confidence, draws and their seed.

    Returns:
        (mean, low, high). Where all clusters agree a bootstrap is sure of itself: each counts as one throw then
        (Wilson), if the mean is 0 or 1; else, and with one cluster alone, there is no interval.
    """
    sums = np.array([total for total, _ in clusters], dtype=np.float64)
    counts = np.array([n for _, n in clusters], dtype=np.float64)
    mean = float(sums.sum() / counts.sum())
    if len(clusters) < 2:
        return mean, None, None
    if len({s / n for s, n in zip(sums, counts, strict=True)}) > 1:
        return mean, *clustered_interval(sums, counts, config)
    if mean not in (0.0, 1.0):
        return mean, None, None
    return mean, *wilson(round(mean) * len(clusters), len(clusters), config.confidence)


def _by_page(arm: str, episodes: Sequence[EpisodeOutcome]) -> dict[tuple[str, int], Outcome]:
    pages: dict[tuple[str, int], Outcome] = {}
    for e in episodes:
        if (e.task, e.seed) in pages:
            raise UserError(
                f"arm {arm!r} holds task {e.task!r} seed {e.seed} twice: keep one episode a page"
            )
        pages[e.task, e.seed] = e.outcome
    return pages


def _require_same_pages(
    a: tuple[str, set[tuple[str, int]]], b: tuple[str, set[tuple[str, int]]]
) -> None:
    missing = [
        f"{len(more[1] - less[1])} page(s) only in {more[0]!r}, such as {_page(min(more[1] - less[1]))}"
        for more, less in ((a, b), (b, a))
        if more[1] - less[1]
    ]
    if missing:
        raise UserError(
            f"arms {a[0]!r} and {b[0]!r} cannot be paired: {'; '.join(missing)}. Run both on the same tasks and seeds"
        )


def _page(page: tuple[str, int]) -> str:
    return f"task {page[0]!r} seed {page[1]}"


def _tally(gains: Sequence[int]) -> Tally:
    wins, losses = sum(g > 0 for g in gains), sum(g < 0 for g in gains)
    ties = len(gains) - wins - losses
    return Tally(wins=wins, losses=losses, ties=ties, p_value=sign_test(wins, losses))
