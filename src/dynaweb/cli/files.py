"""Files that a command reads as one text."""

import zlib
from pathlib import Path

from dynaweb.errors import StorageError, UserError

GZIP = b"\x1f\x8b"


def read_text(path: Path) -> str:
    """A file's text, unpacked where it is gzip, line ends as they are.

    Raises:
        UserError: no such file, or not UTF-8. StorageError: it cannot be read.
    """
    if path.is_dir():
        raise UserError(f"{str(path)!r} is a folder: name a file in it")
    if not path.exists():
        raise UserError(f"no file {str(path)!r}")
    try:
        data = path.read_bytes()
        data = _unpacked(data) if data.startswith(GZIP) else data
        return data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise StorageError(f"cannot read {path}: {error}") from error
    except UnicodeDecodeError as error:
        raise UserError(
            f"{str(path)!r} is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}; convert it first"
        ) from error


def _unpacked(data: bytes) -> bytes:
    import gzip

    return gzip.decompress(data)
