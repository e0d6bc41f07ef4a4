"""Conversations with a model, written down and played back: tests and reruns that need no server.

One JSON line for each request: `{"model": ..., "request": {...}, "reply": {...}}`.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from dynaweb.contracts import ChatModel, ChatReply, ChatRequest
from dynaweb.errors import StorageError
from dynaweb.records.fieldcodec import codec_for
from dynaweb.runs.jsonl import JsonlWriter, read_prefix

_REQUEST, _REPLY = codec_for(ChatRequest), codec_for(ChatReply)


class RecordingChat:
    """Asks another model and appends what was said to a file. Failures are recorded too."""

    def __init__(self, inner: ChatModel, path: Path) -> None:
        """Open the file for append.

        Raises:
            StorageError: it is damaged, or cannot be written.
        """
        self._inner = inner
        self._out = JsonlWriter(path, sync=False)

    @property
    def version(self) -> str:
        """The asked model's."""
        return self._inner.version

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """The other model's replies."""
        replies = self._inner.chat(requests)
        self._out.extend(
            json.dumps(
                {
                    "model": self.version,
                    "request": _REQUEST.encode(request),
                    "reply": _REPLY.encode(reply),
                }
            )
            for request, reply in zip(requests, replies, strict=True)
        )
        return replies

    def close(self) -> None:
        """Safe to call twice."""
        self._out.close()


class RecordedChat:
    """A `contracts.ChatModel` that answers what a recording holds, and fails for everything else."""

    def __init__(self, path: Path) -> None:
        """Read the whole recording; where a request stands twice, the later reply counts.

        Raises:
            StorageError: no such file, damaged, or of several models.
        """
        if not path.is_file():
            raise StorageError(f"no recording {str(path)!r}: record one with RecordingChat")
        prefix = read_prefix(path)
        if prefix.damage:
            raise StorageError(f"recording {str(path)!r}: {prefix.damage}")
        self._replies: dict[ChatRequest, ChatReply] = {}
        models = set()
        for number, line in enumerate(prefix.lines, 1):
            where, entry = f"{path.name}: line {number}", json.loads(line)
            request = _REQUEST.decode(entry.get("request"), f"{where}: request")
            reply = _REPLY.decode(entry.get("reply"), f"{where}: reply")
            assert isinstance(request, ChatRequest) and isinstance(reply, ChatReply)
            self._replies[request] = reply
            models.add(str(entry.get("model")))
        if len(models) > 1:
            raise StorageError(
                f"recording {str(path)!r} holds several models ({', '.join(sorted(models))}): use one file for each"
            )
        self._version = next(iter(models), "recorded")

    @property
    def version(self) -> str:
        """The model that was recorded."""
        return self._version

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """The recorded replies, in order."""
        missing = ChatReply(
            text="", finish="error", model=self._version, error="the recording has no such request"
        )
        return [self._replies.get(request, missing) for request in requests]
