"""A policy as a sampler for trainers on this machine: token ids in, token ids and log-probabilities out, new weights by folder.

The requests are those of vLLM's server that `lm.remote` and `lm.publish` use, so a trainer can begin here and go on
with vLLM. Requests that wait are answered in one batch; a reply depends on its own request and seed alone.
"""

import asyncio
import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from dynaweb.errors import SamplerError, StorageError, UserError
from dynaweb.lm.localpolicy import LocalPolicy, TokenQuestion
from dynaweb.records.trajectory import Generation
from dynaweb.serve.asking import application, gone, health_of, unless_gone
from dynaweb.serve.batcher import Batcher, BusyError
from dynaweb.serve.bodies import read_body
from dynaweb.serve.config import ServeConfig
from dynaweb.serve.loopback import read_json_body
from dynaweb.serve.problems import AsciiJson, ProblemError, busy
from dynaweb.serve.tokenbody import (
    CompletionBody,
    LoadBody,
    RpcBody,
    UnloadBody,
    as_questions,
    token_completion,
)


def sampler_app(policy: LocalPolicy, config: ServeConfig) -> Starlette:
    """The service.

    Args:
        policy: asked by one thread.
        config: how much it takes.
    """
    return _SamplerService(policy, config).app()


class _SamplerService:
    def __init__(self, policy: LocalPolicy, config: ServeConfig) -> None:
        self._policy = policy
        self._config = config
        self._began = int(time.time())
        self._loading = asyncio.Lock()
        self._batcher: Batcher[TokenQuestion, Generation] = Batcher(
            policy.write, max_batch=config.max_batch, max_waiting=config.max_waiting
        )

    def app(self) -> Starlette:
        routes = [
            Route("/health", self._health),
            Route("/v1/models", self._models),
            Route("/v1/completions", self._complete, methods=["POST"]),
            Route("/v1/load_lora_adapter", self._load, methods=["POST"]),
            Route("/v1/unload_lora_adapter", self._unload, methods=["POST"]),
            Route("/collective_rpc", self._rpc, methods=["POST"]),
            Route("/reset_prefix_cache", self._reset, methods=["POST"]),
        ]
        return application(routes, self._batcher)

    async def _health(self, request: Request) -> Response:
        return AsciiJson(health_of(self._policy.name, self._batcher))

    async def _models(self, request: Request) -> Response:
        policy = self._policy
        cards = [
            {
                "id": name,
                "object": "model",
                "created": self._began,
                "owned_by": "dynaweb",
                "parent": None if name == policy.name else policy.name,
                "max_model_len": policy.context,
            }
            for name in policy.names
        ]
        return AsciiJson({"object": "list", "data": cards})

    async def _complete(self, request: Request) -> Response:
        body = read_body(CompletionBody, await self._read(request))
        if body.model not in self._policy.names:
            raise ProblemError(
                404,
                f"no weights {body.model[:80]!r} here: use {' or '.join(map(repr, self._policy.names))}",
                param="model",
                code="model_not_found",
            )
        questions = as_questions(body, self._policy.codec)
        try:
            written = await unless_gone(request, self._all(questions))
        except BusyError as error:
            raise busy(str(error)) from error
        except (SamplerError, UserError) as error:
            raise ProblemError(400, str(error), param="prompt") from error
        except asyncio.CancelledError as error:
            raise busy("the server is stopping") from error
        if written is None:
            return gone()
        return AsciiJson(token_completion(body, written, self._policy.codec))

    async def _all(self, questions: list[TokenQuestion]) -> list[Generation]:
        return list(await asyncio.gather(*map(self._batcher.ask, questions)))

    async def _load(self, request: Request) -> Response:
        body = read_body(LoadBody, await self._read(request))
        await self._change(lambda: self._policy.load_adapters(body.lora_name, body.lora_path))
        return PlainTextResponse(f"Success: LoRA adapter '{body.lora_name}' added successfully.")

    async def _unload(self, request: Request) -> Response:
        body = read_body(UnloadBody, await self._read(request))
        await self._change(lambda: self._policy.unload_adapters(body.lora_name))
        return PlainTextResponse(f"Success: LoRA adapter '{body.lora_name}' removed successfully.")

    async def _rpc(self, request: Request) -> Response:
        body = read_body(RpcBody, await self._read(request))
        await self._change(lambda: self._policy.reload(body.kwargs.weights_path))
        return AsciiJson({"results": [None]})

    async def _reset(self, request: Request) -> Response:
        # nothing is kept from one batch to the next
        return AsciiJson({"success": True})

    async def _read(self, request: Request) -> object:
        return await read_json_body(request, self._config.max_body_bytes)

    async def _change(self, change: Callable[[], None]) -> None:
        """Change weights beside the event loop, one change at a time."""
        try:
            async with self._loading:
                await asyncio.to_thread(change)
        except (UserError, StorageError) as error:
            raise ProblemError(400, str(error)) from error
