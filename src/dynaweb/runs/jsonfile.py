"""One frozen record as one readable JSON file, whole or not there at all; `jsonl` holds many."""

from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TypeVar

from dynaweb.errors import StorageError
from dynaweb.records.fieldcodec import codec_for
from dynaweb.runs.atomic import read_json, write_json

T = TypeVar("T")


def write_record(path: Path, record: object) -> None:
    """Write a dataclass, every field by name; its folder is made if need be.

    Raises:
        StorageError: the file cannot be written, or the record holds NaN or infinity.
    """
    assert is_dataclass(record) and not isinstance(record, type)
    write_object(path, asdict(record))


def write_object(path: Path, body: dict[str, object]) -> None:
    """Write one JSON object; its folder is made if need be.

    Raises:
        StorageError: the file cannot be written, or holds NaN or infinity.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"cannot write in {path.parent}: {error.strerror}; choose a folder you can write"
        ) from error
    write_json(path, body)


def read_object(path: Path) -> dict[str, object]:
    """Read a file that holds one JSON object.

    Raises:
        StorageError: there is none, or it is something else.
    """
    body = read_json(path)
    if body is None:
        raise StorageError(f"there is no {path}")
    return body


def read_record(kind: type[T], path: Path) -> T:
    """Read a record that `write_record` wrote.

    Raises:
        StorageError: no such file, or not such a record; says which field.
    """
    return decode(kind, read_object(path), str(path))


def decode(kind: type[T], body: object, where: str) -> T:
    """A record from parsed JSON; fields that are left out hold their default.

    Raises:
        StorageError: a field is missing, unknown or of another type; says which.
    """
    annotation: object = kind
    record = codec_for(annotation).decode(body, where)
    assert isinstance(record, kind)
    return record
