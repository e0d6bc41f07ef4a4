"""Dreams in step: nobody is answered until everyone waits, and pages come before replies.

A general gatherer flushes when the event loop is idle; dreams whose last reply was no action would
then run ahead in small batches of their own. Here the number of dreams is known, so a batch of
replies holds every dream that is still going, and which questions share a batch never depends on timing.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from dynaweb.contracts import Imagine, Prediction, SampleRequest
from dynaweb.lm.gather import settle
from dynaweb.records.trajectory import Generation

Q = TypeVar("Q")
R = TypeVar("R")


class Queue(Generic[Q, R]):
    """Questions of one kind that wait, and who answers them."""

    def __init__(self, answer: Callable[[Sequence[Q]], list[R]], max_batch: int) -> None:
        """Nothing waits yet."""
        self._answer = answer
        self._max_batch = max_batch
        self._waiting: list[tuple[Q, asyncio.Future[R]]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, question: Q) -> asyncio.Future[R]:
        """Wait in line; the future gets the answer."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        return future

    def flush(self) -> None:
        """Answer everything that waits."""
        waiting, self._waiting = self._waiting, []
        for first in range(0, len(waiting), self._max_batch):
            settle(self._answer, waiting[first : first + self._max_batch])


class Lockstep:
    """Two queues and the number of dreams that may still ask."""

    def __init__(
        self,
        sample: Callable[[Sequence[SampleRequest]], list[Generation]],
        predict: Callable[[Sequence[Imagine]], list[Prediction]],
        *,
        dreams: int,
        max_batch: int,
    ) -> None:
        """Belongs to one event loop.

        Args:
            sample: answers replies, in order, in one go.
            predict: answers pages, in order, in one go.
            dreams: how many will ask; each calls `leave` when it is over.
            max_batch: most questions in one go.
        """
        self._replies = Queue(sample, max_batch)
        self._pages = Queue(predict, max_batch)
        self._going = dreams

    async def ask_reply(self, request: SampleRequest) -> Generation:
        """What the policy says.

        Raises:
            SamplerError: the model failed on this request.
        """
        answer = self._replies.add(request)
        self._answer_if_all_wait()
        return await answer

    async def ask_page(self, question: Imagine) -> Prediction:
        """What the world becomes.

        Raises:
            WorldModelError: the model failed on this question.
        """
        answer = self._pages.add(question)
        self._answer_if_all_wait()
        return await answer

    def leave(self) -> None:
        """A dream is over; the others no longer wait for it."""
        self._going -= 1
        self._answer_if_all_wait()

    def _answer_if_all_wait(self) -> None:
        if self._going == 0 or len(self._pages) + len(self._replies) < self._going:
            return
        if len(self._pages):
            self._pages.flush()
        else:
            self._replies.flush()
