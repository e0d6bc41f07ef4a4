"""Work in any order, results in the order of the work; environments are closed whatever happens."""

import asyncio

import pytest
from tests.conformance.toy import ToyEnvironment

from dynaweb.errors import BrowserError
from dynaweb.rollout.workers import work_through


class Counted(ToyEnvironment):
    """A toy that is told when it is closed."""

    open_now = 0

    def __init__(self) -> None:
        super().__init__()
        Counted.open_now += 1

    async def close(self) -> None:
        Counted.open_now -= 1
        await super().close()


@pytest.mark.parametrize("workers", [1, 3, 50])
async def test_results_are_kept_in_order_by_no_more_workers_than_asked(workers: int) -> None:
    kept: list[tuple[int, int]] = []
    most = 0

    async def do(env: Counted, job: int) -> int:
        nonlocal most
        most = max(most, Counted.open_now)
        for _ in range((job * 7) % 5):  # later jobs may be done earlier
            await asyncio.sleep(0)
        return job * job

    await work_through(
        range(20), Counted, do, lambda job, made: kept.append((job, made)), workers=workers
    )
    assert kept == [(n, n * n) for n in range(20)]
    assert most <= min(workers, 20) and Counted.open_now == 0
    assert most > 1 or workers == 1


async def test_a_failure_stops_the_others_and_what_was_done_before_is_kept() -> None:
    kept: list[int] = []

    async def do(env: Counted, job: int) -> int:
        await asyncio.sleep(0)
        if job == 3:
            raise BrowserError("gone")
        return job

    with pytest.raises(BrowserError, match="gone"):
        await work_through(range(20), Counted, do, lambda job, made: kept.append(job), workers=1)
    assert kept == [0, 1, 2] and Counted.open_now == 0
