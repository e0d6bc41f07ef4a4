"""Between a real service and its askers: does to answers of one path what networks and other servers do."""

import asyncio
import json
from collections.abc import Callable, Iterator, MutableMapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Answer = MutableMapping[str, object]
Edit = Callable[[Answer], None]
Act = str | Edit
"""`well`, `slow`, `cut`, or `500`; or what is done to the answer's JSON."""


class Faulty:
    """One act for each request, `well` when there are no more; counts the requests."""

    def __init__(self, app: ASGIApp, acts: Iterator[Act], path: str = "/v1/completions") -> None:
        self.app, self.acts, self.path = app, acts, path
        self.asked = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != self.path:
            await self.app(scope, receive, send)
            return
        self.asked += 1
        act = next(self.acts, "well")
        if act == "slow":
            await asyncio.sleep(1.5)
        if act == "500":
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b"boom"})
        elif act == "cut":
            length = [(b"content-length", b"1000")]
            await send({"type": "http.response.start", "status": 200, "headers": length})
            await send({"type": "http.response.body", "body": b'{"choices": [', "more_body": True})
            raise ConnectionAbortedError  # the server closes the connection in the middle
        elif callable(act):
            await self._edited(act, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _edited(self, edit: Edit, scope: Scope, receive: Receive, send: Send) -> None:
        kept: list[Message] = []

        async def keep(message: Message) -> None:
            kept.append(message)

        await self.app(scope, receive, keep)
        answer = json.loads(b"".join(m.get("body", b"") for m in kept))
        edit(answer)
        body = json.dumps(answer).encode()
        start = {**kept[0], "headers": [(b"content-type", b"application/json")]}
        await send(start)
        await send({"type": "http.response.body", "body": body})
