"""Requests for chat completions as OpenAI's clients send them, and answers as they read them.

What would change the answer and is not built here is refused by name, never passed over.
"""

import secrets
import time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dynaweb.contracts import ChatMessage, ChatRequest
from dynaweb.lm.localchat import WrittenReply
from dynaweb.serve.problems import ProblemError

MAX_STOPS = 16


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")
    type: Literal["text"]
    text: str


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")
    role: Literal["system", "user", "assistant"]
    content: str | Annotated[list[_Part], Field(min_length=1)]

    def plain(self) -> ChatMessage:
        text = (
            self.content
            if isinstance(self.content, str)
            else "".join(part.text for part in self.content)
        )
        return ChatMessage(role=self.role, content=text)


class _ResponseFormat(BaseModel):
    model_config = ConfigDict(extra="forbid")
    type: Literal["text"]


class ChatBody(BaseModel):
    """One request; every field that OpenAI knows beside these is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    model: str
    messages: Annotated[list[_Message], Field(min_length=1)]
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0.0, le=100.0)] | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    logprobs: bool | None = None
    # values at which these change nothing
    n: Literal[1] | None = None
    stream: Literal[False] | None = None
    top_p: Literal[1] | None = None
    top_logprobs: Literal[0] | None = None
    frequency_penalty: Literal[0] | None = None
    presence_penalty: Literal[0] | None = None
    response_format: _ResponseFormat | None = None
    # for the asker's own books
    user: str | None = None
    metadata: dict[str, str] | None = None


def as_request(body: ChatBody, longest: int) -> ChatRequest:
    """What the model is asked.

    Args:
        body: from the asker; without a seed it gets one by chance, as OpenAI does it.
        longest: tokens of the reply, where the asker does not say.

    Raises:
        ProblemError: a conversation or stop texts that no model can take.
    """
    if body.messages[-1].role == "assistant":
        raise ProblemError(400, "messages: the last one is the assistant's", param="messages")
    stop = (body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ())
    if len(stop) > MAX_STOPS or not all(stop):
        raise ProblemError(400, f"stop: use up to {MAX_STOPS} texts, none empty", param="stop")
    return ChatRequest(
        messages=tuple(m.plain() for m in body.messages),
        max_new_tokens=body.max_completion_tokens or body.max_tokens or longest,
        temperature=1.0 if body.temperature is None else body.temperature,
        seed=secrets.randbits(31) if body.seed is None else body.seed,
        stop=stop,
    )


def completion(written: WrittenReply, *, logprobs: bool) -> dict[str, object]:
    """A reply as a chat completion."""
    reply = written.reply
    asked, wrote = reply.prompt_tokens or 0, reply.completion_tokens or 0
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": reply.text, "refusal": None},
        "finish_reason": reply.finish,
        "logprobs": _logprobs(written) if logprobs else None,
    }
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": reply.model,
        "choices": [choice],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": wrote,
            "total_tokens": asked + wrote,
        },
    }


def _logprobs(written: WrittenReply) -> dict[str, object]:
    content = [
        {
            "token": token,
            "logprob": logprob,
            # a part of a character has no bytes that could be told
            "bytes": None if "\ufffd" in token else list(token.encode("utf-8", "replace")),
            "top_logprobs": [],
        }
        for token, logprob in zip(written.tokens, written.logprobs, strict=True)
    ]
    return {"content": content, "refusal": None}
