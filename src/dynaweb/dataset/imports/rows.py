"""Rows of JSON, one at a time, from files that may be compressed, torn, or full of surprises."""

import gzip
import json
import reprlib
import stat
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from pydantic import BaseModel, ValidationError

from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.surrogates import clean_json
from dynaweb.errors import StorageError, UserError

M = TypeVar("M", bound=BaseModel)

MAX_LINE_BYTES = 64 << 20
"""A longer line is damage: it would not fit the memory an import may take."""
MAX_DOCUMENT_BYTES = 256 << 20
"""The same for a file that is one JSON document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One JSON object of a file."""

    where: str
    """File and line, for people."""
    fields: dict[str, object]


def open_source(path: Path) -> BinaryIO:
    """The file's bytes, decompressed when its first bytes say gzip.

    Raises:
        UserError: no such file, or no file that can be read twice. StorageError: it cannot be opened.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return cast(BinaryIO, gzip.open(path, "rb")) if packed else path.open("rb")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error


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


def read_rows(path: Path, tally: Tally, *, skip_damaged: bool = False) -> Iterator[Row]:
    """The objects of a JSON lines file up to the first damaged line, which is counted and named.

    A torn last line is what a kill leaves; damage in the middle ends the reading too, unless
    `skip_damaged` goes on past it. A line that is JSON but no object is left out. A file that is one JSON list is held as a
    whole, and gives its entries.
    """
    if is_list(path):
        yield from _entries(path, tally)
        return
    lines = raw_lines(path, tally)
    for number, raw in enumerate(lines, start=1):
        where = f"{path.name}:{number}"
        if not raw.strip():
            continue
        value = parsed(raw)
        if isinstance(value, Damaged):
            tally.drop(f"line {value.why}", f"{where}: {raw[:60]!r}")
            if skip_damaged:
                continue
            count_rest(lines, f"{path.name}:{number + 1}", tally)
            return
        tally.rows += 1
        row = as_row(value, where, tally, maybe_lone=b"\\ud" in raw or b"\\uD" in raw)
        if row is not None:
            yield row


def is_list(path: Path) -> bool:
    """The file is one JSON list, over several lines or one: not lines that are lists each.

    Raises:
        UserError: no such file. StorageError: it cannot be opened.
    """
    lines = raw_lines(path, Tally())
    head = next(lines, b"").lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith(b"["):
        return False
    return isinstance(parsed(head), Damaged) or not next(lines, b"").strip()


def first_bytes(path: Path, count: int) -> bytes:
    """At least `count` bytes from the file's beginning, whole lines, or all there are; damage ends them.

    Raises:
        UserError: no such file. StorageError: it cannot be opened.
    """
    read = b""
    for line in raw_lines(path, Tally()):
        read += line
        if len(read) >= count:
            break
    return read


def _entries(path: Path, tally: Tally) -> Iterator[Row]:
    document = read_document(path)
    for number, value in enumerate(document if isinstance(document, list) else []):
        tally.rows += 1
        row = as_row(value, f"{path.name} entry {number}", tally)
        if row is not None:
            yield row


def count_rest(lines: Iterator[bytes], where: str, tally: Tally) -> None:
    """Count what stands after a damaged line and is therefore not read."""
    tally.drop("line after a damaged one", where, sum(1 for line in lines if line.strip()))


def as_row(value: object, where: str, tally: Tally, *, maybe_lone: bool = True) -> Row | None:
    """A JSON value as a row, lone surrogates replaced; None, counted, when it is no object."""
    if not isinstance(value, dict):
        tally.drop("row is not a JSON object", f"{where}: {_shown(value)!r}")
        return None
    if maybe_lone:
        try:
            value, lone = clean_json(value)
        except RecursionError:
            tally.drop("row nests too deeply", where)
            return None
        tally.note("half a surrogate pair became U+FFFD", where, lone)
    return Row(where=where, fields=cast(dict[str, object], value))


def _shown(value: object) -> str:
    """A value cut to 60 characters; a deep or wide one is never written out for it."""
    return (value if isinstance(value, str) else reprlib.repr(value))[:60]


def read_document(path: Path) -> object:
    """A whole JSON file.

    Raises:
        UserError: no such file. StorageError: it is no JSON, or too large to hold.
    """
    with open_source(path) as file:
        data = _guarded_read(file, path)
    value = parsed(data)
    if isinstance(value, Damaged):
        raise StorageError(f"{path}: the document {value.why}: {data[:60]!r}")
    return value


def read_text(path: Path) -> str:
    """A whole text file; bytes that are no UTF-8 become U+FFFD.

    Raises:
        UserError: no such file. StorageError: it cannot be read, or is too large to hold.
    """
    with open_source(path) as file:
        return _guarded_read(file, path).decode("utf-8-sig", errors="replace")


def checked(model: type[M], row: Row, tally: Tally, what: str) -> M | None:
    """The row as `model`; None, counted by field, when a field is missing or of a wrong type.

    Fields that the model does not know are counted too, so that a changed schema shows.
    """
    try:
        found = model.model_validate(row.fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(part for part in first["loc"] if isinstance(part, str))[:60]
        tally.drop(
            f"{what}: {field or 'row'}: {first['msg'].lower()}",
            f"{row.where}: {_shown(first['input'])!r}",
        )
        return None
    for key in found.model_extra or {}:
        tally.note(f"{what} field {key[:60]!r} is not read", row.where)
    return found


def checked_rows(
    path: Path, model: type[M], tally: Tally, what: str, *, skip_damaged: bool = False
) -> Iterator[tuple[M, str]]:
    """The rows of a file that are such a `model`, each with where it stands; others are counted."""
    for row in read_rows(path, tally, skip_damaged=skip_damaged):
        found = checked(model, row, tally, what)
        if found is not None:
            yield found, row.where


def checked_prefix(
    values: Sequence[object], model: type[M], tally: Tally, what: str, where: str
) -> Iterator[M]:
    """The values of a list up to the first that is no such `model`; it and what follows are counted."""
    for number, value in enumerate(values):
        place = f"{where} {what} {number}"
        row = as_row(value, place, tally)
        found = checked(model, row, tally, what) if row is not None else None
        if found is None:
            tally.drop(f"{what} after an invalid one", place, len(values) - number - 1)
            return
        yield found


@dataclass(frozen=True, slots=True)
class Damaged:
    """What stands in place of a value that cannot be read."""

    why: str


def parsed(raw: bytes) -> object | Damaged:
    """The JSON value of a line or document, or why there is none."""
    try:
        return cast(object, json.loads(raw.decode("utf-8-sig")))
    except UnicodeDecodeError:
        return Damaged("is not UTF-8")
    except RecursionError:
        return Damaged("nests too deeply")
    except ValueError:
        return Damaged("is not JSON" if raw.endswith(b"\n") else "is torn")


def raw_lines(path: Path, tally: Tally) -> Iterator[bytes]:
    """A file's lines with their ends; where reading stops before the end is counted.

    Raises:
        UserError: no such file. StorageError: it cannot be opened.
    """
    with open_source(path) as file:
        while True:
            try:
                line = file.readline(MAX_LINE_BYTES)
            except (EOFError, zlib.error, OSError) as error:
                tally.drop("compressed file is cut or damaged", f"{path.name}: {error}")
                return
            if not line:
                return
            if len(line) == MAX_LINE_BYTES:
                tally.drop(f"line is longer than {MAX_LINE_BYTES >> 20} MB", str(path.name))
                return
            yield line


def _guarded_read(file: BinaryIO, path: Path) -> bytes:
    try:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    except (EOFError, zlib.error, OSError) as error:
        raise StorageError(f"cannot read {path}: {error}") from error
    if len(data) > MAX_DOCUMENT_BYTES:
        raise StorageError(
            f"{path} is longer than {MAX_DOCUMENT_BYTES >> 20} MB, as one document: split it, or give JSON lines"
        )
    return data
