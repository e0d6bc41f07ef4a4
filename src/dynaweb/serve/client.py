"""A dream at another process as a `contracts.Environment`: the rollout cannot tell it from its own.

What the server turned away because it is busy is asked again. Nothing else is: a step whose answer was lost may have
been dreamed, so the episode ends as the world's fault.
"""

import asyncio
import json
from collections.abc import Mapping
from types import TracebackType
from typing import TypeVar
from urllib.parse import quote, urlsplit

import httpx2

from dynaweb.contracts import Imagine, Prediction, StepResult
from dynaweb.errors import UserError, WorldModelError
from dynaweb.lm.config import base_address, is_loopback
from dynaweb.lm.transport import Answer, exchange, open_client
from dynaweb.records.action import Action
from dynaweb.records.actioncode import encode_action
from dynaweb.records.codec import SCHEMA_VERSION
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Start, World
from dynaweb.serve.wire import NAMED, Opened, Opening, WorldAbout, from_json, to_json

R = TypeVar("R")

MAX_ANSWER_BYTES = 64 << 20
"""A start with its whole way here is the longest answer."""


class DreamServer:
    """Connections to `dynaweb serve world`. Belongs to the event loop that uses it.

    Example:
        async with DreamServer("http://127.0.0.1:8001") as server:
            dream = server.environment()
            page = await dream.reset(start.task, start.seed, start)
    """

    def __init__(self, url: str, *, deadline_sec: float = 120.0, connections: int = 64) -> None:
        """Nothing is asked yet.

        Args:
            url: base address, as for an endpoint.
            deadline_sec: longest wait for one answer.
            connections: most at once.

        Raises:
            UserError: no address.
        """
        self.url = base_address(url)
        """Base address, `/v1` at its end."""
        self._deadline_sec = deadline_sec
        self._client = open_client(
            loopback=is_loopback(urlsplit(self.url).hostname or ""),
            connections=connections,
            connect_sec=min(deadline_sec, 10.0),
        )

    async def __aenter__(self) -> "DreamServer":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; safe to call twice."""
        await self._client.aclose()

    async def about(self) -> WorldAbout:
        """Which world is served.

        Raises:
            UserError: its records are of another version. WorldModelError: no answer.
        """
        about = await self.ask(WorldAbout, "GET", "/world")
        if about.schema_version != SCHEMA_VERSION:
            raise UserError(
                f"{self.url!r} has records of version {about.schema_version}, here they are {SCHEMA_VERSION}: use the same dynaweb on both sides"
            )
        return about

    async def predict(self, question: Imagine) -> Prediction:
        """The next page; may be given to a `DreamEnvironment` as its `ask`.

        Raises:
            WorldModelError: no answer. SamplerError: the world model's own model failed.
        """
        return await self.ask(Prediction, "POST", "/predict", to_json(question))

    def environment(self) -> "RemoteDream":
        """A dream that has not begun."""
        return RemoteDream(self)

    async def ask(
        self, kind: type[R], method: str, path: str, body: Mapping[str, object] | None = None
    ) -> R:
        """One request and its answer.

        Raises:
            WorldModelError: no answer, or none that can be read. DynawebError: what the server says.
        """
        answer = await self.send(method, path, body)
        try:
            found: object = json.loads(answer.body or b"")
        except (ValueError, RecursionError) as error:
            raise WorldModelError(
                f"{self.url!r} answers what is not JSON (HTTP {answer.status}): is it `dynaweb serve world`?"
            ) from error
        if answer.status != 200:
            raise _named(found, f"{self.url!r}: HTTP {answer.status}")
        return from_json(kind, found, f"answer of {self.url}{path}")

    async def send(self, method: str, path: str, body: Mapping[str, object] | None) -> Answer:
        """One request.

        Raises:
            WorldModelError: no answer in time, or too long a one.
        """
        try:
            async with asyncio.timeout(self._deadline_sec):
                while True:
                    answer = await exchange(
                        self._client, method, f"{self.url}{path}", body, MAX_ANSWER_BYTES
                    )
                    if answer.status != 503 or answer.wait_sec is None:
                        break
                    await asyncio.sleep(answer.wait_sec)
        except TimeoutError as error:
            raise WorldModelError(
                f"{self.url!r} gave no answer within {self._deadline_sec:g} s"
            ) from error
        except httpx2.RequestError as error:
            raise WorldModelError(
                f"{self.url!r} cannot be reached ({type(error).__name__}: {error}): is `dynaweb serve world` running there?"
            ) from error
        if answer.body is None:
            raise WorldModelError(f"{self.url!r} answers more than {MAX_ANSWER_BYTES} bytes")
        return answer


def _named(body: object, where: str) -> Exception:
    """The server's error as the one that it was there."""
    error = body.get("error") if isinstance(body, dict) else None
    said = error if isinstance(error, dict) else {}
    kind = NAMED.get(str(said.get("type")))
    message = str(said.get("message", "no reason given"))
    return kind(message) if kind is not None else WorldModelError(f"{where}: {message[:300]}")


class RemoteDream:
    """One dream at a time, at a server."""

    def __init__(self, server: DreamServer) -> None:
        self._server = server
        self._episode: str | None = None
        self._goal = ""

    @property
    def world(self) -> World:
        """Always a dream."""
        return World.DREAM

    @property
    def goal(self) -> str:
        """What the user wants; empty before `reset`."""
        return self._goal

    async def reset(self, task: str, seed: int, start: Start | None = None) -> Observation:
        """Show the page of `start`.

        Raises:
            UserError: no start, or one of another task or seed. WorldModelError: the server failed.
        """
        opening = to_json(Opening(task=task, seed=seed, start=start))
        path = "/episodes" if self._episode is None else f"{self._path()}/reset"
        return self._began(await self._server.ask(Opened, "POST", path, opening))

    async def step(self, action: Action) -> StepResult:
        """Imagine what comes of it.

        Raises:
            WorldModelError: no usable page, or no answer. UserError: before `reset`, or after the end.
        """
        body = {"action": encode_action(action)}
        return await self._server.ask(StepResult, "POST", f"{self._path()}/step", body)

    async def snapshot(self) -> Start:
        """The present page, with the way here.

        Raises:
            UserError: before `reset`.
        """
        return await self._server.ask(Start, "GET", f"{self._path()}/snapshot")

    async def restore(self, state: Start) -> Observation:
        """Go back to a state that `snapshot` returned.

        Raises:
            WorldModelError: no answer.
        """
        if self._episode is None:
            return await self.reset(state.task, state.seed, state)
        path = f"{self._path()}/restore"
        return self._began(await self._server.ask(Opened, "POST", path, to_json(state)))

    async def close(self) -> None:
        """Forget the dream, there too; safe to call twice, and when the server has gone."""
        if self._episode is None:
            return
        path, self._episode = self._path(), None
        try:
            await self._server.send("DELETE", path, None)
        except WorldModelError:
            # a server that has gone has forgotten it
            return

    def _began(self, opened: Opened) -> Observation:
        self._episode, self._goal = opened.episode, opened.goal
        return opened.observation

    def _path(self) -> str:
        if self._episode is None:
            raise UserError("no dream has begun: reset it to a start first")
        return f"/episodes/{quote(self._episode, safe='')}"
