import random
from datetime import UTC, datetime

import pytest

from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.retry import Failure, may_recover, pause_sec, retry_after_sec

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 0 ", 0.0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-3", None),
        ("", None),
        ("9" * 400, 999_999_999.0),
        ("٣", None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after_sec(header, NOW) == seconds


def test_pauses_double_up_to_the_longest_and_are_drawn() -> None:
    config = EndpointConfig(url="http://h", model="m", backoff_sec=1.0, backoff_max_sec=5.0)
    failure = Failure(kind="http_500", message="", again=True)
    stream = random.Random(0)
    for failed, top in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (400, 5.0)):
        drawn = {pause_sec(failed, failure, config, stream) for _ in range(50)}
        assert len(drawn) > 40 and top / 2 <= min(drawn) and max(drawn) <= top
    asked = Failure(kind="http_429", message="", again=True, wait_sec=60.0)
    assert pause_sec(1, asked, config, stream) == 60.0


def test_which_statuses_pass() -> None:
    assert [s for s in range(300, 600) if may_recover(s)] == [408, 425, 429, *range(500, 600)]
