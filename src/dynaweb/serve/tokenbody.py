"""Requests for completions of token ids as vLLM's clients send them, and answers as they read them.

What would change the answer and is not built here is refused by name, never passed over.
"""

import secrets
import time
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dynaweb.contracts import SampleRequest
from dynaweb.lm.language import TextCodec
from dynaweb.lm.localpolicy import TokenQuestion
from dynaweb.records.trajectory import Generation
from dynaweb.serve.problems import ProblemError

MAX_PROMPTS = 1024
Ids = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]


class CompletionBody(BaseModel):
    """One request; every field that vLLM knows beside these is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    model: str
    prompt: str | Ids | Annotated[list[Ids], Field(min_length=1, max_length=MAX_PROMPTS)]
    max_tokens: Annotated[int, Field(ge=1)] = 16
    temperature: Annotated[float, Field(ge=0.0, le=100.0)] = 1.0
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    stop_token_ids: list[int] = []
    ignore_eos: bool = False
    logprobs: Literal[0] | None = None
    return_token_ids: bool = False
    return_tokens_as_token_ids: bool = False
    # values at which these change nothing
    n: Literal[1] | None = None
    stream: Literal[False] | None = None
    echo: Literal[False] | None = None
    top_p: Literal[1] | None = None
    top_k: Literal[0, -1] | None = None
    min_p: Literal[0] | None = None
    repetition_penalty: Literal[1] | None = None
    frequency_penalty: Literal[0] | None = None
    presence_penalty: Literal[0] | None = None
    # for the asker's own books
    user: str | None = None


class LoadBody(BaseModel):
    """Adapters to load (vLLM's `/v1/load_lora_adapter`)."""

    model_config = ConfigDict(extra="forbid")

    lora_name: Annotated[str, Field(min_length=1, max_length=200)]
    lora_path: Annotated[str, Field(min_length=1, max_length=4096)]
    load_inplace: Literal[False] = False


class UnloadBody(BaseModel):
    """Adapters to forget (vLLM's `/v1/unload_lora_adapter`)."""

    model_config = ConfigDict(extra="forbid")

    lora_name: Annotated[str, Field(min_length=1, max_length=200)]


class _Weights(BaseModel):
    model_config = ConfigDict(extra="forbid")
    weights_path: Annotated[str, Field(min_length=1, max_length=4096)]


class RpcBody(BaseModel):
    """The one thing of vLLM's `/collective_rpc` that is built here: other weights from a folder."""

    model_config = ConfigDict(extra="forbid")

    method: Literal["reload_weights"]
    kwargs: _Weights


def as_questions(body: CompletionBody, codec: TextCodec) -> list[TokenQuestion]:
    """What the policy is asked, one question a prompt, in order.

    Args:
        body: from the asker; without a seed each prompt gets one by chance.
        codec: of the policy: reads a prompt in words, and says which token ends a reply.

    Raises:
        ProblemError: a prompt in words without a token.
    """
    prompts = _prompts(body, codec)
    if not all(prompts):
        raise ProblemError(400, "prompt: has no token", param="prompt")
    own = frozenset() if body.ignore_eos else frozenset({codec.eos_id})
    return [
        TokenQuestion(
            model=body.model,
            request=SampleRequest(
                prompt_ids=tuple(ids),
                max_new_tokens=body.max_tokens,
                temperature=body.temperature,
                seed=secrets.randbits(63) if body.seed is None else body.seed,
            ),
            stop_ids=own | frozenset(body.stop_token_ids),
        )
        for ids in prompts
    ]


def _prompts(body: CompletionBody, codec: TextCodec) -> list[list[int]]:
    if isinstance(body.prompt, str):
        return [codec.encode(body.prompt)]
    one = [p for p in body.prompt if isinstance(p, int)]
    return [one] if one else [p for p in body.prompt if isinstance(p, list)]


def token_completion(
    body: CompletionBody, written: Sequence[Generation], codec: TextCodec
) -> dict[str, object]:
    """Replies as one completion, a choice a prompt."""
    asked = sum(len(g.prompt_ids) for g in written)
    wrote = sum(len(g.completion_ids) for g in written)
    return {
        "id": f"cmpl-{secrets.token_hex(12)}",
        "object": "text_completion",
        "created": int(time.time()),
        "model": body.model,
        "choices": [_choice(body, i, g, codec) for i, g in enumerate(written)],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": wrote,
            "total_tokens": asked + wrote,
        },
    }


def _choice(
    body: CompletionBody, index: int, written: Generation, codec: TextCodec
) -> dict[str, object]:
    stopped = written.finish == "stop"
    ids = written.completion_ids
    return {
        "index": index,
        "text": codec.decode(ids[:-1] if stopped else ids),
        "finish_reason": written.finish,
        "stop_reason": ids[-1] if stopped and ids[-1] != codec.eos_id else None,
        "logprobs": _logprobs(body, written, codec) if body.logprobs is not None else None,
        "prompt_logprobs": None,
        "prompt_token_ids": list(written.prompt_ids) if body.return_token_ids else None,
        "token_ids": list(ids) if body.return_token_ids else None,
    }


def _logprobs(body: CompletionBody, written: Generation, codec: TextCodec) -> dict[str, object]:
    ids = written.completion_ids
    words = [f"token_id:{i}" if body.return_tokens_as_token_ids else codec.decode([i]) for i in ids]
    offsets, at = [], 0
    for i in ids:
        offsets.append(at)
        at += len(codec.decode([i]))
    return {
        "tokens": words,
        "token_logprobs": list(written.logprobs),
        "top_logprobs": [{w: x} for w, x in zip(words, written.logprobs, strict=True)],
        "text_offset": offsets,
    }
