"""Ready rows of conversations from files: what `dynaweb world data` writes, or any `messages` JSON lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dynaweb.contracts import ChatMessage
from dynaweb.dataset.imports.rows import read_rows
from dynaweb.dataset.imports.source import first_bytes
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import UserError
from dynaweb.world.data.row import messages_of

HELD_OUT = "held_out"
HELD_OUT_REASON = "held out for measuring"
NO_ROW = "no messages, and no prompt with a completion"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRow:
    """A conversation to learn from."""

    where: str
    """File and line, for people."""
    messages: tuple[ChatMessage, ...]
    plain: bool
    """A prompt and its completion, joined as they are."""
    last_only: bool
    """Only the last reply is learnt."""
    form: str
    """What the model writes, as the row says; empty when it does not."""


@dataclass(slots=True, kw_only=True)
class ReadRows:
    """The rows of some files, and what became of every line."""

    rows: list[ChatRow] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)


def files_in(sources: Sequence[Path]) -> list[Path]:
    """The files themselves; of a folder its JSON lines files, in order of their names.

    Raises:
        UserError: a folder without such files.
    """
    found: list[Path] = []
    for path in sources:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(p for p in path.iterdir() if p.name.endswith((".jsonl", ".jsonl.gz")))
        if not inside:
            raise UserError(
                f"{str(path)!r} holds no JSON lines file: name a folder that does, of a data set of `dynaweb world data` rows/train/FORM"
            )
        found += inside
    return found


def holds_rows(path: Path) -> bool:
    """Whether a file holds ready rows, and not trajectories.

    Raises:
        UserError: no such file.
    """
    if first_bytes(path, 4).startswith(b"PAR1"):
        return False
    for row in read_rows(path, Tally(), skip_damaged=True):
        return ("messages" in row.fields and "task_name" not in row.fields) or (
            {"prompt", "completion"} <= row.fields.keys()
        )
    return False


def read_chat_rows(paths: Sequence[Path]) -> ReadRows:
    """All rows; a damaged line ends its file, and everything that is left out is counted."""
    read = ReadRows()
    for path in paths:
        read.rows += _rows_of(path, read.tally)
    return read


def _rows_of(path: Path, tally: Tally) -> Iterator[ChatRow]:
    for row in read_rows(path, tally):
        about = row.fields.get("about")
        said: dict[str, object] = about if isinstance(about, dict) else {}
        messages = messages_of(row.fields)
        if not messages:
            tally.drop(NO_ROW, row.where)
        elif said.get("side") == HELD_OUT:
            tally.drop(HELD_OUT_REASON, row.where)
        else:
            form = said.get("form")
            yield ChatRow(
                where=row.where,
                messages=messages,
                plain="messages" not in row.fields,
                last_only=said.get("last_only") is True,
                form=form if isinstance(form, str) else "",
            )
