"""One line of the data set: what a model reads and writes, and where it comes from."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from dynaweb.contracts import ChatMessage
from dynaweb.dataset.surrogates import clean_json


class RowKind(StrEnum):
    """Why a row is there."""

    DYNAMICS = "dynamics"
    """What an action does."""
    MULTI_FORMAT = "multi_format"
    """The same in another format (WebWorld 3.4)."""
    REJECTED = "rejected"
    """An action that fails, as recorded."""
    REJECTED_MADE = "rejected_made"
    """An action that fails on a recorded page, made up by rule."""
    DESCRIBE = "describe"
    """Descriptive simulator: the next page in words (WebWorld 3.4)."""
    GENERATE = "generate"
    """Web generation: from intent to page (WebWorld 3.4)."""
    TEXT = "text"
    """General world model: text to text, from the user's files (WebWorld 3.4)."""
    CHAT = "chat"
    """General chat, from the user's files (WebWorld 3.4)."""
    COT = "cot"
    """Rationale, then the next page: for the second stage (WebWorld 3.5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A conversation to learn from.

    Example:
        Row(messages=(user, assistant), form="nl", kind=RowKind.DYNAMICS, side="train", task="search", site="shop", keys=("0f...",))
    """

    messages: tuple[ChatMessage, ...]
    """Oldest first; the last one is the model's."""
    form: str
    """A `RowForm`, or "" where no world model's form is meant."""
    kind: RowKind
    side: str
    """train or held_out."""
    view: str = "a11y"
    """Format of the pages."""
    plain: bool = False
    """One question and its answer, to be joined as they are, without a chat template."""
    last_only: bool = False
    """Only the last turn is learnt; the turns before it are context."""
    annotation: str = ""
    """Who wrote words that were not recorded: `template`, or the model's name; empty where nothing was written."""
    task: str = ""
    site: str = ""
    trajectory: str = ""
    index: int = 0
    """Step of the trajectory that the first answer is about, from 0."""
    actions: tuple[str, ...] = ()
    """Name of each action whose outcome the row teaches."""
    keys: tuple[str, ...] = ()
    """Page and action of each, `keys.question_key`."""
    license: str = ""
    origin: str = ""

    @property
    def chars(self) -> int:
        """Characters of all turns."""
        return sum(len(m.content) for m in self.messages)


def dump_row(row: Row) -> tuple[str, int]:
    """The row as one JSON line, and how many halves of surrogate pairs became U+FFFD.

    `messages`, or `prompt` and `completion` for a plain row, are the columns that trainers read; all else stands in `about`.
    """
    about = {k: v for k, v in asdict(row).items() if k != "messages" and v not in ("", (), False)}
    if row.plain:
        ask, answer = row.messages
        body: dict[str, object] = {"prompt": ask.content, "completion": answer.content}
    else:
        body = {"messages": [{"role": m.role, "content": m.content} for m in row.messages]}
    cleaned, lone = clean_json({**body, "about": about})
    return json.dumps(cleaned, ensure_ascii=False), lone


def messages_of(body: Mapping[str, object]) -> tuple[ChatMessage, ...]:
    """The turns of a line that `dump_row` wrote, or that has the same columns; empty when it has neither."""
    turns = body.get("messages")
    if isinstance(turns, list):
        made = [_message(t) for t in turns]
        return tuple(m for m in made if m is not None) if None not in made else ()
    ask, answer = body.get("prompt"), body.get("completion")
    if isinstance(ask, str) and isinstance(answer, str):
        return (
            ChatMessage(role="user", content=ask),
            ChatMessage(role="assistant", content=answer),
        )
    return ()


def _message(turn: object) -> ChatMessage | None:
    if not isinstance(turn, dict):
        return None
    role, content = turn.get("role"), turn.get("content")
    if not isinstance(content, str):
        return None
    if role == "system" or role == "user" or role == "assistant":
        return ChatMessage(role=role, content=content)
    return None
