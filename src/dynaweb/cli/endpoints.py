"""Endpoints for commands: the one place where a key is read from the environment."""

import os
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from dynaweb.contracts import ChatMessage, ChatModel, ChatRequest
from dynaweb.errors import SamplerError, UserError
from dynaweb.lm.config import EndpointConfig
from dynaweb.runs.progress import Progress, silent

if TYPE_CHECKING:
    from dynaweb.lm.endpoint import ChatEndpoint
    from dynaweb.lm.replystore import ReplyStore
    from dynaweb.world.opening import OpenChat


def key_of(config: EndpointConfig) -> str:
    """The API key; empty where the configuration names no variable.

    Raises:
        UserError: the variable is not set.
    """
    if not config.key_variable:
        return ""
    key = os.environ.get(config.key_variable, "").strip()
    if not key:
        raise UserError(
            f"environment variable {config.key_variable!r} is not set: put the endpoint's API key there, or name another one"
        )
    return key


def open_endpoint(
    config: EndpointConfig, *, store: "ReplyStore | None" = None, progress: Progress = silent
) -> "ChatEndpoint":
    """An endpoint with the key that its configuration names.

    Raises:
        UserError: the key is missing, or cannot be sent.
    """
    from dynaweb.lm.endpoint import ChatEndpoint

    return ChatEndpoint(config, api_key=key_of(config), store=store, progress=progress)


def examine_endpoint(config: EndpointConfig) -> str:
    """Ask one short question; says what came of it.

    Raises:
        SamplerError: no reply. UserError: the key is missing.
    """
    question = ChatMessage(role="user", content="Say yes.")
    began = time.monotonic()
    with open_endpoint(config) as endpoint:
        reply = endpoint.chat([ChatRequest(messages=(question,), max_new_tokens=16)])[0]
    if reply.finish == "error":
        raise SamplerError(f"{config.url}: {reply.error}")
    took = time.monotonic() - began
    told = [f"{reply.model} answered {reply.text[:40]!r} in {took:.1f} s"]
    told.append(f"{'gives' if reply.mean_logprob is not None else 'gives no'} log-probabilities")
    told.append(f"{'counts' if reply.completion_tokens is not None else 'does not count'} tokens")
    return ", ".join(told)


def chat_opener(key_variable: str, stack: ExitStack) -> "OpenChat":
    """Opens chat models at addresses, `URL#NAME`; they are closed with the stack.

    Args:
        key_variable: name of the environment variable with their key; empty sends none.
        stack: of the command.
    """

    def opened(target: str) -> ChatModel:
        url, _, name = target.partition("#")
        if not url.startswith(("http://", "https://")) or not name:
            raise UserError(
                f"no chat model {target!r}: use a folder, a GGUF file, or an address and a name, http://127.0.0.1:8000/v1#NAME"
            )
        config = EndpointConfig(url=url, model=name, key_variable=key_variable)
        return stack.enter_context(open_endpoint(config))

    return opened
