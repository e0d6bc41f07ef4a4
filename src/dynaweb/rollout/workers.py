"""Workers with an environment each, who take the next piece of work; results come in the order of the work."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from dynaweb.contracts import Environment
from dynaweb.errors import DynawebError

E = TypeVar("E", bound=Environment)
J = TypeVar("J")
R = TypeVar("R")


async def work_through(
    jobs: Sequence[J],
    make_env: Callable[[], E],
    do: Callable[[E, J], Awaitable[R]],
    keep: Callable[[J, R], None],
    *,
    workers: int,
) -> None:
    """Do every job once.

    Args:
        jobs: what to do.
        make_env: an environment for a worker; closed when there is no more work.
        do: one job in one environment.
        keep: called once for each job, in the order of the jobs, as soon as all before it are done.
        workers: most jobs at a time; changes no result.

    Raises:
        DynawebError: the first that a job raised; the other workers are stopped.
    """
    waiting = iter(enumerate(jobs))
    ready: dict[int, R] = {}
    turn = 0

    async def work() -> None:
        nonlocal turn
        env = make_env()
        try:
            for index, job in waiting:
                ready[index] = await do(env, job)
                while turn in ready:
                    keep(jobs[turn], ready.pop(turn))
                    turn += 1
        finally:
            await env.close()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(workers, len(jobs))):
                group.create_task(work())
    except* DynawebError as errors:
        raise errors.exceptions[0] from None
