"""Numbers and findings in plain words. A claim is never stronger than its interval."""

from dynaweb.evaluate.results import ComparisonResult, EvaluationResults
from dynaweb.evaluate.statistics import PairedDifference, Rate

THIN = "\u202f"
MINUS = "\u2212"
NONE = "\u2013"
"""Not measured; never a zero."""


def percent(share: float | None, digits: int = 0) -> str:
    """`61 %`; a dash for what was not measured."""
    return NONE if share is None else f"{share * 100:.{digits}f}{THIN}%"


def points(difference: float | None) -> str:
    """A difference of shares in percentage points, signed."""
    return NONE if difference is None else signed(difference * 100, 1)


def signed(value: float, digits: int) -> str:
    """With its sign, and no minus zero."""
    text = f"{abs(value):.{digits}f}"
    if not text.strip("0."):
        return text
    return (MINUS if value < 0 else "+") + text


def number(value: float | None) -> str:
    """Three significant digits."""
    if value is None:
        return NONE
    if value == 0 or 0.001 <= abs(value) < 100_000:
        text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    else:
        text = f"{value:.1e}"
    return text.replace("-", MINUS)


def p_value(value: float) -> str:
    """`p = 0.031`, and no false precision below a thousandth."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def duration(seconds: float) -> str:
    """`2 h 5 min`, `12 min`, `9 s`."""
    if seconds < 60:
        return f"{seconds:.0f}{THIN}s" if seconds >= 10 else f"{seconds:.1f}{THIN}s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours}{THIN}h {rest}{THIN}min" if hours else f"{minutes}{THIN}min"


def interval(low: float, high: float) -> str:
    """Of a share."""
    return f"{percent(low)} to {percent(high)}"


def points_interval(low: float, high: float) -> str:
    """Of a difference, in points."""
    return f"{points(low)} to {points(high)}"


def rate_words(rate: Rate) -> str:
    """`97 of 160 (61 %)`."""
    return f"{rate.successes} of {rate.n} ({percent(rate.rate)})"


def finding(paired: PairedDifference) -> str:
    """What one comparison shows, and what it does not."""
    if paired.difference is None:
        return f"{paired.treatment} and {paired.control} have no page in common that both finished: nothing is known."
    level = percent(paired.confidence)
    where = "below" if paired.difference < 0 else "above"
    gap = (
        "level with"
        if round(paired.difference, 3) == 0
        else f"{abs(paired.difference) * 100:.1f} points {where}"
    )
    said = (
        f"On the same {paired.pairs} pages, {paired.treatment} is {gap} {paired.control} "
        f"({level} interval {points_interval(paired.low, paired.high)}). "
    )
    if not paired.excludes_zero:
        return said + "The interval includes zero: this run does not show that one is better."
    better, worse = (
        (paired.treatment, paired.control)
        if paired.difference > 0
        else (paired.control, paired.treatment)
    )
    return (
        said + f"The interval excludes zero: on tasks like these, {better} is better than {worse}."
    )


def headline(results: EvaluationResults) -> str:
    """The finding of the primary comparisons in one line."""
    primary = [c.paired for c in results.comparisons if c.primary] or [
        c.paired for c in results.comparisons
    ]
    if not primary:
        return "No comparison was planned: the table below shows each arm by itself."
    treatment = primary[0].treatment
    beaten = [p.control for p in primary if p.excludes_zero and (p.difference or 0) > 0]
    lost = [p.control for p in primary if p.excludes_zero and (p.difference or 0) < 0]
    open_ = [p.control for p in primary if not p.excludes_zero]
    parts = [
        f"beats {_and(beaten)}" if beaten else "",
        f"loses to {_and(lost)}" if lost else "",
        f"cannot be told from {_and(open_)}" if open_ else "",
    ]
    return f"{treatment} {_and([p for p in parts if p])} on real pages."


def caution(results: EvaluationResults) -> str | None:
    """A sentence about episodes that are missing from the comparison, when they are many."""
    worst = max((c.paired for c in results.comparisons), key=_left_out_share, default=None)
    if worst is None or _left_out_share(worst) <= 0.02:
        return None
    return (
        f"{worst.left_out} of {worst.left_out + worst.pairs} pages left the comparison with {worst.control}, because "
        "browser or model broke in one of the two attempts. If that happens more to one arm, the difference is not fair."
    )


def comparison_order(results: EvaluationResults) -> list[ComparisonResult]:
    """Primary comparisons first, otherwise as planned."""
    return sorted(results.comparisons, key=lambda c: not c.primary)


def _left_out_share(paired: PairedDifference) -> float:
    return paired.left_out / max(1, paired.left_out + paired.pairs)


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
