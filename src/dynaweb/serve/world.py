"""The dream as a service: a world model that others ask for predictions, and episodes that are Environments over HTTP.

Predictions of all askers are gathered into batches; what each gets depends on its own question alone. The errors of
`dream.environment` keep their meaning: the caller's mistakes are 400, the world model's failures 502.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dynaweb.contracts import Imagine, Prediction, WorldModel
from dynaweb.dream.config import DreamConfig
from dynaweb.dream.environment import DreamEnvironment
from dynaweb.errors import ActionError, DynawebError, StorageError, UserError, WorldModelError
from dynaweb.records.action import Action
from dynaweb.records.actioncode import decode_action
from dynaweb.records.trajectory import Start
from dynaweb.serve.asking import application, gone, health_of, unless_gone
from dynaweb.serve.batcher import Batcher, BusyError, Gone
from dynaweb.serve.config import ServeConfig
from dynaweb.serve.dreams import OpenDream, OpenDreams
from dynaweb.serve.loopback import read_json_body
from dynaweb.serve.problems import AsciiJson, ProblemError, busy
from dynaweb.serve.wire import Opened, Opening, WorldAbout, from_json, to_json

R = TypeVar("R")


def world_app(world: WorldModel, dream: DreamConfig, config: ServeConfig) -> Starlette:
    """The service.

    Args:
        world: asked by one thread.
        dream: when dreams end.
        config: how much it takes.
    """
    return _WorldService(world, dream, config).app()


class _WorldService:
    def __init__(self, world: WorldModel, dream: DreamConfig, config: ServeConfig) -> None:
        self._world = world
        self._most = config.max_body_bytes

        def answer(asked: Sequence[tuple[Imagine, Gone]]) -> list[Prediction]:
            return world.predict([question for question, _ in asked])

        self._batcher = Batcher(answer, max_batch=config.max_batch, max_waiting=config.max_waiting)
        self._dreams = OpenDreams(
            lambda: DreamEnvironment(self._batcher.ask, dream),
            most=config.max_episodes,
            idle_sec=config.idle_sec,
        )

    def app(self) -> Starlette:
        one = "/v1/episodes/{name}"
        routes = [
            Route("/health", self._health),
            Route("/v1/world", self._about),
            Route("/v1/predict", self._predict, methods=["POST"]),
            Route("/v1/episodes", self._open, methods=["POST"]),
            Route(f"{one}/reset", self._reset, methods=["POST"]),
            Route(f"{one}/step", self._step, methods=["POST"]),
            Route(f"{one}/snapshot", self._snapshot),
            Route(f"{one}/restore", self._restore, methods=["POST"]),
            Route(one, self._close, methods=["DELETE"]),
        ]
        return application(routes, self._batcher)

    async def _health(self, request: Request) -> Response:
        health = health_of(self._world.version, self._batcher)
        more = {"episodes": len(self._dreams), "forgotten": self._dreams.forgotten}
        return AsciiJson(health | more)

    async def _about(self, request: Request) -> Response:
        # with every field: the reader may be of another version
        about = WorldAbout(version=self._world.version)
        return AsciiJson({"version": about.version, "schema_version": about.schema_version})

    async def _predict(self, request: Request) -> Response:
        body = await self._object(request)
        if "observation" in body and "history" not in body:
            body = {**body, "history": [body["observation"]]}
            del body["observation"]
        question = _decoded(Imagine, body)
        if not question.history:
            raise _problem(UserError("history is empty: give at least the present page"))
        return await self._answered(request, self._batcher.ask(question))

    async def _open(self, request: Request) -> Response:
        opening = _decoded(Opening, await self._object(request))
        try:
            name, dream = await self._dreams.open()
        except BusyError as error:
            raise busy(str(error)) from error
        opened = False
        try:
            answer = await self._answered(request, self._begin(name, dream, opening))
            opened = answer.status_code == 200
        finally:
            if not opened:  # nobody would know its name
                await self._dreams.close(name)
        return answer

    async def _reset(self, request: Request) -> Response:
        name, dream = self._dream(request)
        opening = _decoded(Opening, await self._object(request))
        return await self._answered(request, self._begin(name, dream, opening))

    async def _begin(self, name: str, dream: OpenDream, opening: Opening) -> Opened:
        async with dream.lock:
            env = dream.environment
            page = await env.reset(opening.task, opening.seed, opening.start)
            return Opened(episode=name, observation=page, goal=env.goal)

    async def _step(self, request: Request) -> Response:
        _, dream = self._dream(request)
        body = await self._object(request)
        action = _action(body.get("action"))

        async def step() -> object:
            async with dream.lock:
                return await dream.environment.step(action)

        return await self._answered(request, step())

    async def _snapshot(self, request: Request) -> Response:
        _, dream = self._dream(request)
        return await self._answered(request, dream.environment.snapshot())

    async def _restore(self, request: Request) -> Response:
        name, dream = self._dream(request)
        start = _decoded(Start, await self._object(request))

        async def restore() -> Opened:
            async with dream.lock:
                page = await dream.environment.restore(start)
                return Opened(episode=name, observation=page, goal=dream.environment.goal)

        return await self._answered(request, restore())

    async def _close(self, request: Request) -> Response:
        await self._dreams.close(str(request.path_params["name"]))
        return Response(status_code=204)

    def _dream(self, request: Request) -> tuple[str, OpenDream]:
        name = str(request.path_params["name"])
        try:
            return name, self._dreams.get(name)
        except WorldModelError as error:
            raise _problem(error, status=404) from error

    async def _object(self, request: Request) -> dict[str, object]:
        body = await read_json_body(request, self._most)
        if not isinstance(body, dict):
            raise _problem(UserError("the request is no JSON object"))
        return body

    async def _answered(self, request: Request, work: Coroutine[object, object, R]) -> Response:
        """What the work gives, as JSON; its errors in their form."""
        try:
            found = await unless_gone(request, work)
        except BusyError as error:
            raise busy(str(error)) from error
        except DynawebError as error:
            raise _problem(error) from error
        except asyncio.CancelledError as error:
            raise busy("the server is stopping") from error
        return gone() if found is None else AsciiJson(to_json(found))


def _decoded(kind: type[R], body: object) -> R:
    try:
        return from_json(kind, body, "request")
    except StorageError as error:
        raise _problem(UserError(str(error))) from error


def _action(body: object) -> Action:
    try:
        return decode_action(body)
    except ActionError as error:
        raise _problem(UserError(f"request.action: {error}")) from error


def _problem(error: DynawebError, status: int | None = None) -> ProblemError:
    callers = isinstance(error, UserError)
    kind = type(error).__name__
    return ProblemError(status or (400 if callers else 502), str(error), kind=kind)
