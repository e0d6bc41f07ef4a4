"""The user's own rows: text-to-text world models and general chat (WebWorld 3.4), taken as they are.

Read are JSON lines with `messages` (role, content), `prompt` and `completion`, or sharegpt's `conversations` (from, value).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dynaweb.contracts import ChatMessage
from dynaweb.dataset.imports.rows import read_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import UserError
from dynaweb.world.data.admit import TRAIN
from dynaweb.world.data.counts import Counts
from dynaweb.world.data.row import Row, RowKind, messages_of

_SPEAKERS = {"human": "user", "gpt": "assistant", "system": "system"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """A file of rows."""

    path: Path
    kind: RowKind
    """TEXT or CHAT."""


def foreign_rows(files: Sequence[Foreign], tally: Tally, counts: Counts) -> Iterator[Row]:
    """The rows, for training; what is no conversation that ends with an answer is counted.

    Raises:
        UserError: no such file. StorageError: it cannot be read.
    """
    for file in files:
        for read in read_rows(file.path, tally):
            messages = messages_of(_as_messages(read.fields))
            if _learnable(messages):
                yield Row(
                    messages=messages, form="", kind=file.kind, side=TRAIN, view="text",
                    trajectory=read.where, origin=file.path.name,
                )  # fmt: skip
            else:
                counts.add("other rows: dropped", f"{file.kind.value}: no_conversation")


def require_learnable(files: Sequence[Foreign]) -> None:
    """Refuse a file without a single row to learn from, before anything is made.

    Raises:
        UserError: such a file, or none there. StorageError: it cannot be read.
    """
    for file in files:
        tally = Tally()
        rows = read_rows(file.path, tally)
        if any(_learnable(messages_of(_as_messages(read.fields))) for read in rows):
            continue
        why = ", ".join(f"{n} {reason}" for reason, n in tally.dropped.items())
        raise UserError(
            f"{str(file.path)!r} holds no row for --{file.kind.value} ({why or f'{tally.rows} rows, none a conversation that ends with an answer'}): "
            "give JSON lines with messages, or prompt and completion"
        )


def _learnable(messages: tuple[ChatMessage, ...]) -> bool:
    """Somebody asks, and the last word is an answer."""
    asked = any(m.role == "user" for m in messages)
    return asked and messages[-1].role == "assistant" and bool(messages[-1].content.strip())


def _as_messages(fields: Mapping[str, object]) -> Mapping[str, object]:
    turns = fields.get("conversations")
    if not isinstance(turns, list):
        return fields
    made = [
        {"role": _SPEAKERS.get(str(t.get("from")), ""), "content": t.get("value")}
        for t in turns
        if isinstance(t, dict)
    ]
    return {"messages": made if len(made) == len(turns) else None}
