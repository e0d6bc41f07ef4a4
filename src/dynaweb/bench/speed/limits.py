"""What reading pages and making state changes may cost, and which of it a measurement missed.

The quickest repetition is judged where there are several: whatever else the machine does only slows it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from dynaweb.bench.speed.run import SpeedReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What must hold on one core; 0 asks nothing (ours)."""

    min_mb_per_sec: float = 5.0
    """Reading, in 10^6 bytes a second, in every dialect."""
    max_diff_ms: float = 10.0
    """Making a state change, in milliseconds, median over pairs; for pages of the default size."""
    max_growth: float = 12.0
    """Times as long for ten times the lines: linear is ten."""


def missed(report: SpeedReport, limits: Limits) -> tuple[str, ...]:
    """One line for each limit that does not hold, and for pairs whose change was not exact."""
    return tuple(_missed(report, limits))


def _missed(report: SpeedReport, limits: Limits) -> Iterator[str]:
    for parse in report.parse:
        speed = parse.mb_per_sec.high
        if speed < limits.min_mb_per_sec:
            yield f"reading {parse.dialect}: {speed:.1f} MB/s, at least {limits.min_mb_per_sec:g} wanted"
    change = report.change
    if limits.max_diff_ms and change.diff_ms.value > limits.max_diff_ms:
        yield f"diff: {change.diff_ms.value:.1f} ms, at most {limits.max_diff_ms:g} wanted"
    for grown in report.growth:
        if limits.max_growth and grown.times > limits.max_growth:
            yield f"growth of {grown.what}: {grown.times:.1f} times, at most {limits.max_growth:g} wanted"
    if change.exact < change.pairs:
        yield f"changes: {change.pairs - change.exact} of {change.pairs} pairs are not exact"
