"""Stored records, one JSON line each: `load(dump(record)) == record`.

A line says which record it is and which schema wrote it. Text is ASCII JSON, so that control characters, U+2028 and lone
surrogates survive any tool. Fields that hold their default are left out: a changed default is a schema change.
"""

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar, get_args

from dynaweb.errors import StorageError
from dynaweb.records.delta import Delta
from dynaweb.records.fieldcodec import codec_for
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.trajectory import (
    Generation,
    Group,
    Start,
    Step,
    Trajectory,
    Transition,
    Verdict,
)

SCHEMA_VERSION = 2
"""Raise it with every change of a stored record, and add a migration from the version before."""

Migration: TypeAlias = Callable[[str, dict[str, object]], dict[str, object]]
"""Takes the record's name and its fields as version n wrote them; returns them as n + 1 writes them."""


def _stopped_recordings(name: str, fields: dict[str, object]) -> dict[str, object]:
    """Version 1 had no reason for a recording that stops: imports wrote it as the browser's fault."""
    if name == "Group" and isinstance(members := fields.get("members"), list):
        moved = [
            _stopped_recordings("Trajectory", m) if isinstance(m, dict) else m for m in members
        ]
        return {**fields, "members": moved}
    said = str(fields.get("detail", ""))
    if fields.get("reason") == "browser_fault" and said.startswith("the recording stops"):
        return {**fields, "reason": "recording_stopped"}
    return fields


MIGRATIONS: Mapping[int, Migration] = {1: _stopped_recordings}
"""Version n -> how a line of version n becomes one of n + 1."""

Record: TypeAlias = (
    Observation
    | Tab
    | Generation
    | Step
    | Transition
    | Start
    | Trajectory
    | Group
    | Verdict
    | Delta
)

T = TypeVar("T")

STORED: Mapping[str, type[Record]] = {kind.__name__: kind for kind in get_args(Record)}

_CODECS = {name: codec_for(kind) for name, kind in STORED.items()}

_encoder = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, separators=(",", ":"), check_circular=False
)


def dump(record: Record) -> str:
    r"""The record as one line of ASCII JSON, without the line end.

    A high surrogate directly followed by a low one comes back as the character they spell.

    Raises:
        StorageError: the record holds a number that JSON has no word for (NaN, infinity).
    """
    name = type(record).__name__
    body = _CODECS[name].encode(record)
    assert isinstance(body, dict)
    try:
        return _encoder.encode({"schema_version": SCHEMA_VERSION, "record": name, **body})
    except ValueError as error:
        raise StorageError(f"{name} cannot be stored: {error}") from error


def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object (`object_pairs_hook`) of which every key stands once: nothing we write repeats one.

    Raises:
        StorageError: a key stands twice, so one of its values would be lost.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise StorageError(f"not a record: key {twice[:60]!r} stands twice in an object")
    return made


def load(line: str) -> Record:
    """The record that `dump` wrote, whatever schema version wrote it.

    Raises:
        StorageError: not a record of ours, of a newer version, or damaged; says where.
    """
    try:
        fields: object = json.loads(line, object_pairs_hook=distinct)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"not a record: {line[:60]!r} ({error})") from error
    if not isinstance(fields, dict):
        raise StorageError(f"not a record: {line[:60]!r}; a record is a JSON object")
    version, name = fields.pop("schema_version", None), fields.pop("record", None)
    kind = STORED.get(name) if isinstance(name, str) else None
    if kind is None:
        raise StorageError(
            f"unknown record {str(name)[:40]!r}: this version stores {', '.join(STORED)}"
        )
    record = _CODECS[kind.__name__].decode(_migrated(str(name), fields, version), str(name))
    assert isinstance(record, kind)
    return record


def load_as(kind: type[T], line: str) -> T:
    """`load`, for a file that holds one kind of record.

    Raises:
        StorageError: as `load`, or the line holds another kind.
    """
    record = load(line)
    if not isinstance(record, kind):
        raise StorageError(f"expected a {kind.__name__}, found a {type(record).__name__}")
    return record


def _migrated(name: str, fields: dict[str, object], version: object) -> dict[str, object]:
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise StorageError(
            f"{name}: schema_version {version!r} is not a version; the file is damaged or foreign"
        )
    if version > SCHEMA_VERSION:
        raise StorageError(
            f"{name}: schema_version {version} is newer than {SCHEMA_VERSION}, which this dynaweb reads; update dynaweb"
        )
    for step in range(version, SCHEMA_VERSION):
        if step not in MIGRATIONS:
            raise StorageError(f"{name}: no migration from schema_version {step} to {step + 1}")
        fields = MIGRATIONS[step](name, fields)
    return fields
