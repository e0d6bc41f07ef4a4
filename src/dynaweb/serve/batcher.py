"""Questions that wait, answered in batches by one thread beside the event loop.

`lm.gather` answers in the event loop itself, which suits one program whose parts all wait for the model. A server
must go on listening: for its health, for further questions, and for askers who leave.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeAlias, TypeVar

from dynaweb.errors import DynawebError
from dynaweb.lm.gather import answer_each

Q = TypeVar("Q")
R = TypeVar("R")

Gone: TypeAlias = Callable[[], bool]
"""Whether nobody waits for the answer any more; may be asked from any thread."""


class BusyError(DynawebError):
    """Too many questions wait already."""


class Batcher(Generic[Q, R]):
    """Turns `answer(batch)` into `await ask(question)`; what gathered while a batch was answered is the next one.

    Example:
        async with Batcher(answer, max_batch=16, max_waiting=1024) as batcher:
            reply = await batcher.ask(question)
    """

    def __init__(
        self,
        answer: Callable[[Sequence[tuple[Q, Gone]]], list[R]],
        *,
        max_batch: int,
        max_waiting: int,
    ) -> None:
        """Answer nothing before `async with`.

        Args:
            answer: answers a batch in order; a question whose asker is gone may get anything.
            max_batch: most questions at once.
            max_waiting: most questions that wait.
        """
        self._answer = answer
        self._max_batch = max_batch
        self._max_waiting = max_waiting
        self._waiting: deque[tuple[Q, asyncio.Future[R]]] = deque()
        self._some = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="dynaweb-answers")
        self._closing = False
        self._since: float | None = None
        self.batches = 0
        """Batches answered so far."""
        self.answered = 0
        """Questions answered so far."""
        self.left = 0
        """Questions whose askers left before the answer."""

    @property
    def waiting(self) -> int:
        """Questions that wait and are not being answered yet."""
        return len(self._waiting)

    @property
    def busy_sec(self) -> float:
        """Seconds that the present batch has taken so far; 0.0 when there is none."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    async def ask(self, question: Q) -> R:
        """The answer to one question. Cancel it to say that nobody waits any more.

        Raises:
            BusyError: too many wait.
            DynawebError: what `answer` raised for this question.
        """
        if len(self._waiting) >= self._max_waiting:
            raise BusyError(f"{len(self._waiting)} questions wait already: try again later")
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        self._some.set()
        try:
            return await future
        except asyncio.CancelledError:
            self.left += 1
            raise

    async def __aenter__(self) -> "Batcher[Q, R]":
        self._work = asyncio.create_task(self._forever())
        return self

    async def __aexit__(self, *raised: object) -> None:
        self._closing = True  # what is being written ends at its next token
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)
        for _, future in self._waiting:
            future.cancel()
        await asyncio.to_thread(self._thread.shutdown)

    async def _forever(self) -> None:
        while True:
            await self._some.wait()
            batch = [self._waiting.popleft() for _ in range(min(self._max_batch, self.waiting))]
            if not self._waiting:
                self._some.clear()
            batch = [(q, f) for q, f in batch if not f.done()]
            if batch:
                await self._flush(batch)

    async def _flush(self, batch: list[tuple[Q, asyncio.Future[R]]]) -> None:
        loop = asyncio.get_running_loop()
        asked = [(q, self._gone(f)) for q, f in batch]
        self._since = time.monotonic()
        answers: Sequence[R | Exception]
        try:
            answers, _ = await loop.run_in_executor(self._thread, answer_each, self._answer, asked)
        except asyncio.CancelledError:
            for _, future in batch:
                future.cancel()
            raise
        except Exception as error:  # noqa: BLE001  # carried to every waiter, which raises it
            answers = [error] * len(batch)
        finally:
            self._since = None
        self.batches += 1
        for (_, future), one in zip(batch, answers, strict=True):
            if future.done():
                continue
            self.answered += 1
            if isinstance(one, Exception):
                future.set_exception(one)
            else:
                future.set_result(one)

    def _gone(self, future: asyncio.Future[R]) -> Gone:
        return lambda: self._closing or future.cancelled()
