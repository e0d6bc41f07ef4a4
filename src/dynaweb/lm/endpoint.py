"""Any OpenAI-compatible server as a `contracts.ChatModel`: asked side by side, with deadlines and retries (`lm.asker`).

A failed request is a reply that says why; only what no request can mend is raised.
"""

from collections.abc import Sequence
from types import TracebackType

from dynaweb.contracts import ChatReply, ChatRequest
from dynaweb.lm.asker import Asker, EndpointTally, Route
from dynaweb.lm.chatwire import read_completion, request_body
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.replystore import ReplyStore, reply_key
from dynaweb.lm.retry import Failure
from dynaweb.runs.progress import Progress, silent


class ChatEndpoint:
    """A `contracts.ChatModel` at an address. Close it, or use it in a `with` block.

    Example:
        config = EndpointConfig(url="http://127.0.0.1:8000/v1", model="Qwen/WebWorld-8B")
        with ChatEndpoint(config, store=ReplyStore(folder / "replies.sqlite")) as model:
            replies = model.chat(requests)
    """

    def __init__(
        self,
        config: EndpointConfig,
        *,
        api_key: str = "",
        store: ReplyStore | None = None,
        progress: Progress = silent,
    ) -> None:
        """Nothing is asked yet.

        Args:
            config: where and how to ask.
            api_key: sent as bearer token; empty sends none.
            store: replies that were given before are taken from there, new ones are put there as they arrive.
            progress: told after every reply.

        Raises:
            UserError: a key that no header can carry.
        """
        self._config = config
        self._asker = Asker(config, api_key=api_key)
        self._store = store
        self._progress = progress
        self._route = Route(
            address=f"{config.url}/chat/completions",
            missing=f"no model {config.model!r}, or no chat completions",
            optional="logprobs",
        )

    @property
    def version(self) -> str:
        """`openai:` and the model's name at the server."""
        return f"openai:{self._config.model}"

    @property
    def tally(self) -> EndpointTally:
        """Since the endpoint was made."""
        return self._asker.tally

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Replies in order; equal requests are asked once.

        Raises:
            SamplerError: no such host, a refused key, no such model.
            StorageError: the store cannot be read or written.
        """
        unique = list(dict.fromkeys(requests))

        def done(count: int) -> None:
            self._progress(f"asking {self._config.model}", count, len(unique))

        answers = dict(zip(unique, self._asker.each(self._answer, unique, done), strict=True))
        return [answers[r] for r in requests]

    def close(self) -> None:
        """Close connections; safe to call twice."""
        self._asker.close()

    def __enter__(self) -> "ChatEndpoint":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def _answer(self, request: ChatRequest) -> ChatReply:
        body = request_body(request, self._config)
        key = reply_key(body)
        kept = self._store.get(key) if self._store is not None else None
        if kept is not None:
            self.tally.requests += 1
            self.tally.from_store += 1
            return kept
        model = self._config.model
        reply = await self._asker.ask(
            self._route, body, lambda data: read_completion(data, request, model)
        )
        self.tally.requests += 1
        if isinstance(reply, Failure):
            return ChatReply(text="", finish="error", model=model, error=reply.message)
        self.tally.answered += 1
        self.tally.prompt_tokens += reply.prompt_tokens or 0
        self.tally.completion_tokens += reply.completion_tokens or 0
        if self._store is not None:
            self._store.put(key, body, reply)
        return reply
