"""Bytes of files that may be compressed, torn or endless, and the JSON values in them."""

import gzip
import json
import stat
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import StorageError, UserError

MAX_LINE_BYTES = 64 << 20
"""A longer line is damage: it would not fit the memory an import may take."""
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_FIRST_BYTES = 1 << 20
"""Of a line that a file begins with; one that is longer is looked at no further."""


def open_source(path: Path) -> BinaryIO:
    """The file's bytes, decompressed when its first bytes say gzip.

    Raises:
        UserError: no such file, or no file that can be read twice. StorageError: it cannot be opened.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
        return cast(BinaryIO, gzip.open(path, "rb")) if packed else path.open("rb")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error


def unpacked_bytes(path: Path) -> int | None:
    """Length of a file; None where it is packed, and nobody knows before it is read, or where it is none that can be read twice."""
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            return None if file.read(2) == _GZIP else path.stat().st_size
    except OSError:
        return None


def require_file(path: Path) -> None:
    """Refuse what is no file on disk: its format is found out first, so it is read more than once.

    Raises:
        UserError: nothing there, a folder, or a pipe or device. StorageError: it cannot be looked at.
    """
    shown = repr(str(path)[:200])
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"no file {shown}") from None
    except OSError as error:
        raise StorageError(f"cannot read {shown}: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        raise UserError(f"{shown} is a folder: name a file in it")
    if not stat.S_ISREG(mode):
        raise UserError(f"{shown} is a pipe or a device: save it in a file first")


def is_parquet(path: Path) -> bool:
    """Whether it is a Parquet file, by its first bytes.

    Raises:
        UserError: no such file. StorageError: it cannot be opened.
    """
    return first_bytes(path, len(_PARQUET)).startswith(_PARQUET)


def first_bytes(path: Path, count: int) -> bytes:
    """At least `count` bytes from the file's beginning, whole lines up to 1 MB, or all there are; damage ends them.

    Raises:
        UserError: no such file. StorageError: it cannot be opened.
    """
    read = b""
    for line in raw_lines(path, Tally(), longest=_FIRST_BYTES):
        read += line
        if len(read) >= count:
            break
    return read


@dataclass(frozen=True, slots=True)
class Damaged:
    """What stands in place of a value that cannot be read."""

    why: str


class Told:
    """Reads JSON values one after the other, and counts keys that stand twice in an object."""

    __slots__ = ("decoder", "tally", "where")

    def __init__(self, tally: Tally, where: str) -> None:
        """Count in `tally`; `where` is where the next value stands, for people."""
        self.tally, self.where = tally, where
        self.decoder = json.JSONDecoder(object_pairs_hook=self._object)

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        """A JSON object; of a key that stands twice the last value counts, as everywhere, and it is said."""
        made = dict(pairs)
        if len(made) < len(pairs):
            for key, times in Counter(key for key, _ in pairs).items():
                if times > 1:
                    reason = f"key {key[:60]!r} stands twice in an object: its last value was read"
                    self.tally.note(reason, self.where, times - 1)
        return made


_UNTOLD = json.JSONDecoder()
_BLANKS = " \t\r\n"


def parsed(raw: bytes, told: Told | None = None) -> object | Damaged:
    """The JSON value of a line or document, or why there is none."""
    try:
        text = raw.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        return Damaged("is not UTF-8")
    begin = len(text) - len(text.lstrip(_BLANKS)) if text[:1] in _BLANKS else 0
    decoder = _UNTOLD if told is None else told.decoder
    try:
        value, end = decoder.raw_decode(text, begin)
    except RecursionError:
        return Damaged("nests too deeply")
    except ValueError:
        end = -1
    if end < 0 or text[end:].strip(_BLANKS):
        return Damaged("is not JSON" if raw.endswith(b"\n") else "is torn")
    return cast(object, value)


def raw_lines(path: Path, tally: Tally, *, longest: int | None = None) -> Iterator[bytes]:
    """A file's lines with their ends; where reading stops before the end is counted.

    Args:
        path: the file.
        tally: counts.
        longest: bytes of a line; a longer one comes in pieces. Without it such a line, of `MAX_LINE_BYTES`, is damage.

    Raises:
        UserError: no such file. StorageError: it cannot be opened.
    """
    with open_source(path) as file:
        while True:
            try:
                line = file.readline(longest or MAX_LINE_BYTES)
            except (EOFError, zlib.error, OSError) as error:
                tally.drop("compressed file is cut or damaged", f"{path.name}: {error}")
                return
            if not line:
                return
            if longest is None and len(line) == MAX_LINE_BYTES:
                tally.drop(f"line is longer than {MAX_LINE_BYTES >> 20} MB", str(path.name))
                return
            tally.read_bytes += len(line)
            yield line
