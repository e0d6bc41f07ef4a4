"""Rows of JSON, one at a time, from files that may be compressed, torn, or full of surprises."""

import reprlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from pydantic import BaseModel, ValidationError

from dynaweb.dataset.imports.listed import is_list, list_values
from dynaweb.dataset.imports.source import Damaged, Told, open_source, parsed, raw_lines
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.surrogates import clean_json
from dynaweb.errors import StorageError

M = TypeVar("M", bound=BaseModel)

MAX_DOCUMENT_BYTES = 64 << 20
"""A longer file that is one JSON object is refused: read, it takes up to thirty times as much. Lists are read entry by entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One JSON object of a file."""

    where: str
    """File and line, for people."""
    fields: dict[str, object]


def read_rows(path: Path, tally: Tally, *, skip_damaged: bool = False) -> Iterator[Row]:
    """The objects of a JSON lines file up to the first damaged line, which is counted and named.

    A torn last line is what a kill leaves; damage in the middle ends the reading too, unless
    `skip_damaged` goes on past it. A line that is JSON but no object is left out. A file that is one JSON list gives its
    entries, each read when it is asked for.
    """
    if is_list(path):
        yield from _entries(path, tally)
        return
    name = path.name
    lines, told = raw_lines(path, tally), Told(tally, name)
    for number, raw in enumerate(lines, start=1):
        where = f"{name}:{number}"
        if raw.isspace():
            continue
        told.where = where
        value = parsed(raw, told)
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


def _entries(path: Path, tally: Tally) -> Iterator[Row]:
    name = path.name
    for number, (value, maybe_lone) in enumerate(list_values(path, tally)):
        tally.rows += 1
        row = as_row(value, f"{name} entry {number}", tally, maybe_lone=maybe_lone)
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


def read_document(path: Path, tally: Tally | None = None) -> object:
    """A whole JSON file; keys that stand twice in one object are counted, where there is a tally.

    Raises:
        UserError: no such file. StorageError: it is no JSON, or too large to hold.
    """
    with open_source(path) as file:
        data = _guarded_read(file, path)
    value = parsed(data, None if tally is None else Told(tally, path.name))
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


def _guarded_read(file: BinaryIO, path: Path) -> bytes:
    try:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    except (EOFError, zlib.error, OSError) as error:
        raise StorageError(f"cannot read {path}: {error}") from error
    if len(data) > MAX_DOCUMENT_BYTES:
        raise StorageError(
            f"{path} is longer than {MAX_DOCUMENT_BYTES >> 20} MB, as one JSON document: give a list of objects, or JSON lines"
        )
    return data
