"""Chat completions as OpenAI-compatible servers spell them: what is sent, and what is read of the answer.

What a server sends is untrusted: it is parsed strictly, and what does not fit is a failure, never a guess.
"""

import json
import math
from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from dynaweb.contracts import ChatReply, ChatRequest
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.retry import Failure

SAID_CHARACTERS = 300
"""Of a server's own error message."""


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: object = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(BaseModel):
    choices: list[_Choice]
    model: str = ""
    usage: _Usage | None = None


def request_body(request: ChatRequest, config: EndpointConfig) -> dict[str, object]:
    """What is posted for a request."""
    body: dict[str, object] = {
        "model": config.model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        config.length_field: request.max_new_tokens,
        "temperature": request.temperature,
    }
    if config.send_seed:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = list(request.stop)
    if config.logprobs:
        body["logprobs"] = True
    return body


def read_completion(data: bytes, request: ChatRequest, model: str) -> ChatReply | Failure:
    """A server's answer as a reply.

    Args:
        data: body of an answer with status 200.
        request: what was asked; its stop texts end the reply even where the server forgot them.
        model: name to give when the server gives none.
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
        completion = _Completion.model_validate(raw)
    except (ValidationError, RecursionError) as error:
        where = ""
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            where = f": {'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"
        return _malformed(f"the answer is no chat completion{where}")
    if not completion.choices:
        return Failure(kind="no_choices", message="the answer holds no choice", again=True)
    return _reply(completion, completion.choices[0], request, model)


def _reply(
    completion: _Completion, choice: _Choice, request: ChatRequest, model: str
) -> ChatReply | Failure:
    content, reason = choice.message.content, choice.finish_reason
    if reason == "content_filter" or choice.message.refusal:
        said = short(choice.message.refusal or "content_filter")
        return Failure(kind="refused", message=f"the server refused: {said}", again=False)
    if content is None or reason not in ("stop", "length", None):
        return Failure(
            kind="no_text",
            message=f"no text in the answer, which ended with {reason!r}",
            again=False,
        )
    text, cut = cut_at(content, request.stop)
    usage = completion.usage or _Usage()
    return ChatReply(
        text=text,
        finish="length" if reason == "length" and not cut else "stop",
        model=completion.model or model,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        # what was cut off had its own probabilities, and they cannot be told apart
        mean_logprob=None if cut else _mean_logprob(choice.logprobs),
    )


def cut_at(text: str, stop: tuple[str, ...]) -> tuple[str, bool]:
    """The text before the first stop text, and whether there was one."""
    places = [at for s in stop if s and (at := text.find(s)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


def _mean_logprob(raw: object) -> float | None:
    """Mean of `content[].logprob`; None unless all of them are numbers."""
    tokens = raw.get("content") if isinstance(raw, Mapping) else None
    if not isinstance(tokens, list) or not tokens:
        return None
    found = [t.get("logprob") if isinstance(t, Mapping) else None for t in tokens]
    numbers = [float(n) for n in found if isinstance(n, int | float) and math.isfinite(n)]
    return sum(numbers) / len(numbers) if len(numbers) == len(found) else None


def error_message(data: bytes) -> str:
    """What a server says in an error body, in whatever form it says it; one short line."""
    try:
        raw: object = json.loads(data)
    except (ValueError, RecursionError):
        return short(data[: 4 * SAID_CHARACTERS].decode("utf-8", "replace"))
    for name in ("error", "message", "detail"):
        if isinstance(raw, Mapping) and name in raw:
            raw = raw[name]
    return short(raw if isinstance(raw, str) else json.dumps(raw))


def short(text: str) -> str:
    """One printable line, at most `SAID_CHARACTERS` long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= SAID_CHARACTERS else line[: SAID_CHARACTERS - 1] + "…"


def _malformed(message: str) -> Failure:
    return Failure(kind="malformed", message=message, again=True)
