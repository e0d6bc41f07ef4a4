"""Tables on disk: a frozen record as one readable JSON file, whole or not there at all."""

import json
import os
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TypeVar

from dynaweb.errors import StorageError
from dynaweb.records.fieldcodec import Json, codec_for

T = TypeVar("T")


def write_json(path: Path, body: object) -> None:
    """Write a dataclass, or anything JSON has words for: aside, flushed, then renamed.

    Raises:
        StorageError: the file cannot be written, or the body holds NaN or infinity.
    """
    plain = asdict(body) if is_dataclass(body) and not isinstance(body, type) else body
    aside = path.with_name(path.name + ".part")
    try:
        text = json.dumps(plain, indent=1, allow_nan=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        with aside.open("w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except ValueError as error:
        raise StorageError(f"cannot write {path}: {error}") from error
    except OSError as error:
        raise StorageError(
            f"cannot write {path}: {error.strerror}; choose a folder you can write"
        ) from error


def read_object(path: Path) -> dict[str, Json]:
    """Read a file that holds one JSON object.

    Raises:
        StorageError: there is none, or it is something else.
    """
    try:
        body: Json = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path} is damaged: {error}") from error
    if not isinstance(body, dict):
        raise StorageError(f"{path} is damaged: expected a JSON object")
    return body


def read_record(kind: type[T], path: Path) -> T:
    """Read a record that `write_json` wrote.

    Raises:
        StorageError: no such file, or not such a record; says which field.
    """
    return decode(kind, read_object(path), str(path))


def decode(kind: type[T], body: Json, where: str) -> T:
    """A record from parsed JSON; fields that are left out hold their default.

    Raises:
        StorageError: a field is missing, unknown or of another type; says which.
    """
    annotation: object = kind
    record = codec_for(annotation).decode(body, where)
    assert isinstance(record, kind)
    return record
