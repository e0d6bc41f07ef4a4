import asyncio
from collections.abc import Sequence

import pytest

from dynaweb.errors import SamplerError, UserError
from dynaweb.lm.gather import Gather


class Doubler:
    """Answers twice the number; remembers what it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        return [2 * n for n in numbers]


async def test_what_waits_is_one_batch_in_order() -> None:
    doubler = Doubler()
    gather = Gather(doubler, max_batch=64)
    assert await asyncio.gather(*(gather.ask(n) for n in range(10))) == [2 * n for n in range(10)]
    assert doubler.batches == [list(range(10))]
    assert (gather.batches, gather.questions) == (1, 10)


async def test_a_full_batch_does_not_wait_and_the_rest_follows() -> None:
    doubler = Doubler()
    gather = Gather(doubler, max_batch=4)
    assert await asyncio.gather(*(gather.ask(n) for n in range(10))) == [2 * n for n in range(10)]
    assert [len(b) for b in doubler.batches] == [4, 4, 2]


async def test_a_lone_question_is_answered_at_once() -> None:
    gather = Gather(Doubler(), max_batch=64)
    assert await asyncio.wait_for(gather.ask(1), timeout=5) == 2


async def test_episodes_in_step_stay_in_step() -> None:
    agent, world = Doubler(), Doubler()
    ask_agent, ask_world = Gather(agent, max_batch=64), Gather(world, max_batch=64)

    async def step(n: int) -> int:
        return await ask_world.ask(await ask_agent.ask(n))

    async def episode(n: int) -> int:
        for _ in range(5):
            n = await step(n)
        return n

    assert await asyncio.gather(*(episode(n) for n in range(8))) == [n * 4**5 for n in range(8)]
    assert [len(b) for b in agent.batches + world.batches] == [8] * 10


async def test_a_refused_question_fails_alone() -> None:
    def answer(numbers: Sequence[int]) -> list[int]:
        if 3 in numbers:
            raise SamplerError("too long")
        return list(numbers)

    gather = Gather(answer, max_batch=64)
    results = await asyncio.gather(*(gather.ask(n) for n in range(6)), return_exceptions=True)
    assert [r for r in results if isinstance(r, int)] == [0, 1, 2, 4, 5]
    assert isinstance(results[3], SamplerError)
    assert (gather.questions, gather.batches) == (6, 3), "0 to 2, 3 alone, 4 and 5"


async def test_a_defect_reaches_every_waiter_and_the_next_batch_is_fine() -> None:
    def answer(numbers: Sequence[int]) -> list[int]:
        if 3 in numbers:
            raise ZeroDivisionError
        return list(numbers)

    gather = Gather(answer, max_batch=64)
    results = await asyncio.gather(*(gather.ask(n) for n in (1, 2, 3)), return_exceptions=True)
    assert all(isinstance(r, ZeroDivisionError) for r in results)
    assert await gather.ask(4) == 4


async def test_too_few_answers_are_an_error() -> None:
    gather: Gather[int, int] = Gather(lambda numbers: [], max_batch=4)
    with pytest.raises(RuntimeError, match="1 questions got 0 answers"):
        await gather.ask(1)


async def test_a_cancelled_question_is_not_asked() -> None:
    doubler = Doubler()
    gather = Gather(doubler, max_batch=64)
    tasks = [asyncio.ensure_future(gather.ask(n)) for n in range(3)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    assert await asyncio.gather(tasks[0], tasks[2]) == [0, 4]
    assert doubler.batches == [[0, 2]]


def test_a_new_event_loop_starts_clean() -> None:
    gather = Gather(Doubler(), max_batch=64)

    async def leave_waiting() -> None:
        task = asyncio.ensure_future(gather.ask(1))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave_waiting())
    assert asyncio.run(asyncio.wait_for(gather.ask(2), timeout=5)) == 4


def test_bad_size_is_named() -> None:
    with pytest.raises(UserError, match="max_batch is 0"):
        Gather(Doubler(), max_batch=0)
