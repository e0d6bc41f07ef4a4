"""Completions of token ids as vLLM's server spells them (`/v1/completions`): what is sent, and what is read of the answer.

Everything that would change the distribution is sent, since a server fills gaps from the model's own generation
settings (vLLM: `generation_config.json`). What a server sends is untrusted: tokens that do not fit what was asked
are a failure, never a guess.
"""

import json
import math
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ValidationError

from dynaweb.contracts import SampleRequest
from dynaweb.lm.chatwire import error_message
from dynaweb.lm.language import TextCodec
from dynaweb.lm.retry import Failure
from dynaweb.records.trajectory import Generation

UNTRUNCATED: Final[Mapping[str, object]] = {
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
"""The whole distribution: a truncated one would bias the ratio (engines' issues trl#6789, vllm#42259)."""

OTHER_MODEL: Final = "other_model"
"""Kind of the failure of a server that answers with other weights than those that were asked for."""

NOISE: Final = 1e-3
"""Nats by which rounding may lift a log-probability above 0."""


class _Logprobs(BaseModel):
    token_logprobs: list[float | None]


class _Choice(BaseModel):
    token_ids: list[int] | None = None
    prompt_token_ids: list[int] | None = None
    logprobs: _Logprobs | None = None
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice]
    model: str


def completion_body(request: SampleRequest, model: str, eos_id: int) -> dict[str, object]:
    """What is posted for a request.

    Args:
        request: ids and how to sample.
        model: the server's name of the weights.
        eos_id: the one token that ends a reply, as it does for local weights.
    """
    return {
        "model": model,
        "prompt": list(request.prompt_ids),
        "max_tokens": request.max_new_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "logprobs": 0,
        "stop_token_ids": [eos_id],
        "ignore_eos": True,
        "return_token_ids": True,
        # a server without a tokenizer has no other way to write a token down
        "return_tokens_as_token_ids": True,
        **UNTRUNCATED,
    }


def read_tokens(
    data: bytes,
    request: SampleRequest,
    model: str,
    codec: TextCodec,
    *,
    vocab_size: int,
    version: str,
) -> Generation | Failure:
    """A server's answer as a generation.

    Args:
        data: body of an answer with status 200.
        request: what was asked.
        model: whose answer it must be.
        codec: turns ids into text; the server's own text is not read.
        vocab_size: ids of the policy end below it.
        version: of the weights behind `model`.
    """
    try:
        raw: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        return _malformed(f"the answer is not JSON ({type(error).__name__})")
    if isinstance(raw, Mapping) and raw.get("error"):
        return Failure(
            kind="error_body", message=f"the server says: {error_message(data)}", again=True
        )
    try:
        answer = _Completion.model_validate(raw)
    except (ValidationError, RecursionError) as error:
        where = ""
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            where = f": {'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"
        return _malformed(f"the answer is no completion{where}")
    if len(answer.choices) != 1:
        return _malformed(f"the answer holds {len(answer.choices)} choices instead of 1")
    if answer.model != model:
        return Failure(
            kind=OTHER_MODEL,
            message=f"{answer.model!r} answered where {model!r} was asked",
            again=False,
        )
    return _generation(answer.choices[0], request, codec, vocab_size, version)


def _generation(
    choice: _Choice, request: SampleRequest, codec: TextCodec, vocab_size: int, version: str
) -> Generation | Failure:
    ids, logprobs = choice.token_ids, choice.logprobs
    if ids is None or choice.prompt_token_ids is None or logprobs is None:
        return _foreign(
            "the server gives no token ids or no log-probabilities: use vLLM 0.10.2 or later, or `dynaweb serve sampler`"
        )
    if tuple(choice.prompt_token_ids) != request.prompt_ids:
        return _foreign(
            f"the server read another prompt ({len(choice.prompt_token_ids)} tokens) than the one sent ({len(request.prompt_ids)})"
        )
    if not ids:
        return Failure(kind="no_tokens", message="the reply has no token", again=True)
    if len(ids) > request.max_new_tokens or min(ids) < 0 or max(ids) >= vocab_size:
        return _foreign(
            f"the reply has {len(ids)} tokens from {min(ids)} to {max(ids)}: {request.max_new_tokens} were asked for, of a vocabulary of {vocab_size}"
        )
    known = [x for x in logprobs.token_logprobs if x is not None and _is_logprob(x)]
    if len(known) != len(ids) or len(known) != len(logprobs.token_logprobs):
        return _foreign(f"the reply has {len(ids)} tokens and {len(known)} log-probabilities")
    if choice.finish_reason not in ("stop", "length"):
        return _malformed(f"the reply ended with {choice.finish_reason!r}")
    ended = ids[-1] == codec.eos_id
    return Generation(
        prompt_ids=request.prompt_ids,
        completion_ids=tuple(ids),
        logprobs=tuple(min(x, 0.0) for x in known),
        temperature=request.temperature,
        seed=request.seed,
        policy_version=version,
        raw_text=codec.decode(ids[:-1] if ended else ids),
        finish=choice.finish_reason,
    )


def _is_logprob(x: float) -> bool:
    return math.isfinite(x) and x <= NOISE


def _malformed(message: str) -> Failure:
    return Failure(kind="malformed", message=message, again=True)


def _foreign(message: str) -> Failure:
    """Other tokens than ours: asking again changes nothing."""
    return Failure(kind="wrong_tokens", message=message, again=False)
