"""Which tool wrote a file: told by its first row, never by its name alone."""

from itertools import islice
from pathlib import Path

from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.rows import read_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import UserError

_KEYS: tuple[tuple[frozenset[str], Format], ...] = (
    (frozenset({"schema_version", "record"}), Format.DYNAWEB),
    (frozenset({"task_id", "intent_template_id", "steps"}), Format.WEBARENA_TRACES),
)
"""Keys of a row that only one tool writes together."""


def detect(path: Path) -> Format:
    """The format of a file.

    Raises:
        UserError: no such file, or no tool we know wrote it. StorageError: it cannot be read.
    """
    tally = Tally()
    for row in islice(read_rows(path, tally, skip_damaged=True), 1):
        keys = frozenset(row.fields)
        for wanted, found in _KEYS:
            if wanted <= keys:
                return found
        raise UserError(
            f"{str(path)!r} has rows with {', '.join(sorted(keys)[:8])}: no format we know; name it with --format ({', '.join(Format)})"
        )
    raise UserError(f"{str(path)!r} holds nothing to import: {_why(tally)}")


def _why(tally: Tally) -> str:
    return next((f"{reason} ({tally.first[reason]})" for reason in tally.dropped), "it is empty")
