"""Which failures of a server are worth another try, and how long to wait for it."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from dynaweb.lm.config import EndpointConfig

TRANSIENT: Final = frozenset({408, 425, 429})
"""Statuses below 500 that a later try may not get; so may every status from 500 on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One try that gave no reply."""

    kind: str
    """A word for counting: `http_429`, `timeout`, `transport`, `malformed`, `too_large`, ..."""
    message: str
    """What happened, in a line."""
    again: bool
    """Whether another try may go better."""
    wait_sec: float | None = None
    """What the server asked to wait; None when it did not."""


def may_recover(status: int) -> bool:
    """Whether the same request may succeed later."""
    return status in TRANSIENT or status >= 500


def pause_sec(
    failed: int, failure: Failure, config: EndpointConfig, stream: random.Random
) -> float:
    """Seconds before the next try: exponential with jitter, never less than the server asked for.

    Args:
        failed: tries so far, at least 1.
        failure: the last of them.
        config: how the endpoint is asked.
        stream: of the jitter.
    """
    top = min(config.backoff_sec * 2 ** (failed - 1), config.backoff_max_sec)
    return max(stream.uniform(top / 2, top), failure.wait_sec or 0.0)


def retry_after_sec(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a `Retry-After` header asks for, as a number or a date (RFC 9110, 10.2.3); None without one."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max((at - (now or datetime.now(UTC))).total_seconds(), 0.0)
