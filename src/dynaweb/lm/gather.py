"""Collects the questions that wait in the event loop into one batch.

Many episodes ask one model. Each awaits its answer alone; the batch is what has gathered when no
other coroutine is ready to run. Nothing waits for a clock, so a lone question is answered at once.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from dynaweb.errors import DynawebError, UserError

Q = TypeVar("Q")
R = TypeVar("R")

QUIET_TURNS: Final = 2
"""A coroutine that was just woken needs a turn to run, and one more when it awaits another."""


class Gather(Generic[Q, R]):
    """Turns `answer(batch)` into `await ask(question)`. Belongs to one event loop at a time.

    The answer runs in the event loop's thread: models here use all cores themselves. A question that
    the model refuses raises its own error; the others of its batch are answered (`settle`). A question
    that was cancelled while it waited is not asked.

    Example:
        gather = Gather(sampler.sample, max_batch=64)
        generation = await gather.ask(request)
    """

    def __init__(self, answer: Callable[[Sequence[Q]], list[R]], max_batch: int) -> None:
        if max_batch < 1:
            raise UserError(f"max_batch is {max_batch!r}: use at least 1")
        self._answer = answer
        self._max_batch = max_batch
        self._waiting: list[tuple[Q, asyncio.Future[R]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scheduled = False
        self.batches = 0
        """Batches answered so far."""
        self.questions = 0
        """Questions answered so far."""

    async def ask(self, question: Q) -> R:
        """The answer to one question, from a batch with whatever else waits."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # The loop before was closed; what waited in it was cancelled with it.
            self._loop, self._waiting, self._scheduled = loop, [], False
        future: asyncio.Future[R] = loop.create_future()
        self._waiting.append((question, future))
        self._schedule(loop)
        return await future

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._waiting and not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._turn, loop, len(self._waiting), 0)

    def _turn(self, loop: asyncio.AbstractEventLoop, seen: int, quiet: int) -> None:
        """Answer when the batch is full or `QUIET_TURNS` of the loop brought no new question."""
        now = len(self._waiting)
        quiet = quiet + 1 if now == seen else 0
        if now < self._max_batch and quiet < QUIET_TURNS:
            loop.call_soon(self._turn, loop, now, quiet)
            return
        self._scheduled = False
        asked = [(q, f) for q, f in self._waiting if not f.done()]
        batch, self._waiting = asked[: self._max_batch], asked[self._max_batch :]
        self._schedule(loop)
        if batch:
            self._flush(batch)

    def _flush(self, batch: list[tuple[Q, asyncio.Future[R]]]) -> None:
        try:
            self.batches += settle(self._answer, batch)
        except Exception as error:  # noqa: BLE001  # carried to every waiter, which raises it
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        self.questions += len(batch)


def settle(
    answer: Callable[[Sequence[Q]], list[R]], batch: Sequence[tuple[Q, asyncio.Future[R]]]
) -> int:
    """Give every future its answer or its error; returns how many batches that took."""
    answers, batches = answer_each(answer, [q for q, _ in batch])
    for (_, future), one in zip(batch, answers, strict=True):
        if future.done():
            continue
        if isinstance(one, DynawebError):
            future.set_exception(one)
        else:
            future.set_result(one)
    return batches


def answer_each(
    answer: Callable[[Sequence[Q]], list[R]], questions: Sequence[Q]
) -> tuple[list[R | DynawebError], int]:
    """Every question's answer, or the error that it met, and how many batches that took.

    One bad question must not spoil its neighbours' answers: a refused batch is cut in two.
    """
    try:
        answers = answer(questions)
    except DynawebError as error:
        if len(questions) == 1:
            return [error], 1
        half = len(questions) // 2
        first, batches = answer_each(answer, questions[:half])
        second, more = answer_each(answer, questions[half:])
        return first + second, batches + more
    if len(answers) != len(questions):
        raise RuntimeError(f"{len(questions)} questions got {len(answers)} answers")
    return [*answers], 1
