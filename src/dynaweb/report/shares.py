"""Counted shares as words, numbers and marks on an axis."""

from dynaweb.bench.results import Share
from dynaweb.evaluate.statistics import Rate, wilson
from dynaweb.report.charts import Axis, Mark, interval_strip
from dynaweb.report.html import Html, tag
from dynaweb.report.words import NONE, interval, percent


def rate_of(share: Share) -> Rate:
    """A counted share with its Wilson interval."""
    low, high = wilson(share.hits, share.n)
    return Rate(successes=share.hits, n=share.n, unknown=0, low=low, high=high)


def share_words(share: Share) -> str:
    """`17 of 231 (7.4 %)`; a dash when nothing was counted."""
    return f"{share.hits} of {share.n} ({percent(share.fraction, 1)})" if share.n else NONE


def counted(share: Share) -> str:
    """`17 of 231`."""
    return f"{share.hits} of {share.n}"


def big(share: Share, digits: int = 0) -> Html:
    """The share in per cent, large."""
    return tag("span", percent(share.fraction, digits), cls="big")


def share_interval(rate: Rate) -> str:
    """A rate's interval in words; a dash when nothing was counted."""
    return interval(rate.low, rate.high) if rate.n else NONE


def share_strip(rate: Rate, kind: str, name: str, axis: Axis) -> Html | None:
    """A rate with its interval on an axis; nothing when nothing was counted."""
    if rate.rate is None:
        return None
    mark = Mark(value=rate.rate, low=rate.low, high=rate.high, kind=kind)
    label = f"{name}: {percent(rate.rate, 1)}, interval {interval(rate.low, rate.high)}"
    return interval_strip(axis, [mark], label)
