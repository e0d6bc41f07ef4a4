"""Files that a command reads as one text."""

import zlib
from pathlib import Path

from dynaweb.errors import StorageError, UserError

MAX_TEXT_BYTES = 16 << 20
"""Of a page or a reply, unpacked: the largest public page has 350,000."""
MAX_TEXT_LINES = 200_000


def read_text(path: Path) -> str:
    """A file's text, unpacked where it is gzip, line ends as they are.

    Raises:
        UserError: no such file, not UTF-8, or longer than a page can be. StorageError: it cannot be read.
    """
    from dynaweb.dataset.imports.source import open_source

    try:
        with open_source(path) as file:
            data = file.read(MAX_TEXT_BYTES + 1)
        if len(data) > MAX_TEXT_BYTES or data.count(b"\n") > MAX_TEXT_LINES:
            raise UserError(
                f"{str(path)!r} is longer than {MAX_TEXT_BYTES >> 20} MB or {MAX_TEXT_LINES} lines: too long for one page or reply"
            )
        return data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise StorageError(f"cannot read {path}: {error}") from error
    except UnicodeDecodeError as error:
        raise UserError(
            f"{str(path)!r} is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}; convert it first"
        ) from error
