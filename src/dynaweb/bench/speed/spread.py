"""Numbers that come from repetition, each with what says how sure it is."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

DRAWS = 1000
"""Bootstrap samples of an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One measurement, repeated."""

    low: float
    """The smallest."""
    median: float
    high: float
    """The largest."""
    n: int
    """Repetitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A statistic of many cases with its 95 % percentile-bootstrap interval over cases."""

    value: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Smallest, median and largest of one or more values."""
    return Spread(low=min(values), median=median(values), high=max(values), n=len(values))


def estimate(values: Sequence[float], statistic: Callable[[Sequence[float]], float]) -> Estimate:
    """A statistic of one or more values; the same values always give the same interval."""
    rng = random.Random(0)
    drawn = sorted(statistic(rng.choices(values, k=len(values))) for _ in range(DRAWS))
    low, high = drawn[round(0.025 * (DRAWS - 1))], drawn[round(0.975 * (DRAWS - 1))]
    return Estimate(value=statistic(values), low=low, high=high)


def ninth_decile(values: Sequence[float]) -> float:
    """The value that 90 % of one or more values do not exceed."""
    return quantiles(values, n=10, method="inclusive")[-1] if len(values) > 1 else values[0]
