"""What the services share: an answer for an asker who may leave, and the frame of an application."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from dynaweb.serve.batcher import Batcher
from dynaweb.serve.problems import ProblemError, on_bug, on_http, on_problem

Q = TypeVar("Q")
R = TypeVar("R")
LEFT_STATUS = 499
"""nginx's word for an asker who closed the connection; nobody reads it."""


async def unless_gone(request: Request, work: Coroutine[object, object, R]) -> R | None:
    """What the work gives; None, and the work cancelled, when the asker closes the connection first.

    Args:
        request: whose body has been read.
        work: done meanwhile.
    """
    answer = asyncio.ensure_future(work)
    left = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({answer, left}, return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None
    finally:
        answer.cancel()
        left.cancel()
        await asyncio.gather(answer, left, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def gone() -> Response:
    """For an asker who has left."""
    return Response(status_code=LEFT_STATUS)


def application(
    routes: Sequence[BaseRoute], *alive: AbstractAsyncContextManager[object]
) -> Starlette:
    """An application whose errors all have one form.

    Args:
        routes: what it answers.
        alive: what is open while it runs.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in alive:
                await stack.enter_async_context(one)
            yield

    handlers: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
        ProblemError: on_problem,
        HTTPException: on_http,
        Exception: on_bug,
    }
    return Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)


def health_of(name: str, batcher: Batcher[Q, R]) -> dict[str, object]:
    """Whether and how a service works."""
    return {
        "status": "ok",
        "model": name,
        "waiting": batcher.waiting,
        "busy_sec": round(batcher.busy_sec, 3),
        "answered": batcher.answered,
        "batches": batcher.batches,
        "left": batcher.left,
    }
