"""A local chat model behind OpenAI's interface: chat completions and the list of models, on this machine alone.

Requests that wait are answered in one batch; a reply depends on its own request and seed alone. An asker who closes the
connection is not written for any longer. There is no streaming: it is refused, as everything that is not built is.
"""

import asyncio
import time
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dynaweb.contracts import ChatRequest
from dynaweb.lm.localchat import Gone, LocalChat, WrittenReply
from dynaweb.serve.asking import application, gone, health_of, unless_gone
from dynaweb.serve.batcher import Batcher, BusyError
from dynaweb.serve.bodies import read_body
from dynaweb.serve.chatbody import ChatBody, as_request, completion
from dynaweb.serve.config import ServeConfig
from dynaweb.serve.loopback import read_json_body
from dynaweb.serve.problems import AsciiJson, ProblemError, busy


def chat_app(model: LocalChat, config: ServeConfig) -> Starlette:
    """The service.

    Args:
        model: asked by one thread.
        config: how much it takes.
    """
    return _ChatService(model, config).app()


class _ChatService:
    def __init__(self, model: LocalChat, config: ServeConfig) -> None:
        self._model = model
        self._config = config
        self._began = int(time.time())

        def answer(asked: Sequence[tuple[ChatRequest, Gone]]) -> list[WrittenReply]:
            return model.write(asked)

        self._batcher = Batcher(answer, max_batch=config.max_batch, max_waiting=config.max_waiting)

    def app(self) -> Starlette:
        routes = [
            Route("/health", self._health),
            Route("/v1/models", self._models),
            Route("/v1/models/{name:path}", self._one_model),
            Route("/v1/chat/completions", self._complete, methods=["POST"]),
        ]
        return application(routes, self._batcher)

    async def _health(self, request: Request) -> Response:
        return AsciiJson(health_of(self._model.name, self._batcher))

    async def _models(self, request: Request) -> Response:
        return AsciiJson({"object": "list", "data": [self._card()]})

    async def _one_model(self, request: Request) -> Response:
        self._require(str(request.path_params["name"]))
        return AsciiJson(self._card())

    def _card(self) -> dict[str, object]:
        return {
            "id": self._model.name,
            "object": "model",
            "created": self._began,
            "owned_by": "dynaweb",
        }

    def _require(self, name: str) -> None:
        if name != self._model.name:
            raise ProblemError(
                404,
                f"no model {name[:80]!r} here: use {self._model.name!r}",
                param="model",
                code="model_not_found",
            )

    async def _complete(self, request: Request) -> Response:
        body = read_body(ChatBody, await read_json_body(request, self._config.max_body_bytes))
        self._require(body.model)
        asked = as_request(body, self._config.max_new_tokens)
        try:
            written = await unless_gone(request, self._batcher.ask(asked))
        except BusyError as error:
            raise busy(str(error)) from error
        except asyncio.CancelledError as error:
            raise busy("the server is stopping") from error
        if written is None:
            return gone()
        if written.reply.finish == "error":
            raise ProblemError(400, written.reply.error, param="messages")
        return AsciiJson(completion(written, logprobs=bool(body.logprobs)))
