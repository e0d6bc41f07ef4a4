"""What the dream's service and its client say to each other: records as `records.codec` writes their fields, in JSON.

    GET    /v1/world                       WorldAbout
    POST   /v1/predict                     Imagine, or {"observation", "action", ...} for one page alone -> Prediction
    POST   /v1/episodes                    Opening -> Opened
    POST   /v1/episodes/ID/reset           Opening -> Opened
    POST   /v1/episodes/ID/step            {"action"} -> StepResult
    GET    /v1/episodes/ID/snapshot        Start
    POST   /v1/episodes/ID/restore         Start -> Opened
    DELETE /v1/episodes/ID

An error is `{"error": {"message", "type", ...}}` with one of `NAMED` as its type.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from dynaweb.errors import (
    DynawebError,
    MissingDependencyError,
    SamplerError,
    StorageError,
    UserError,
    WorldModelError,
)
from dynaweb.records.codec import SCHEMA_VERSION
from dynaweb.records.fieldcodec import codec_for
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Start

T = TypeVar("T")

NAMED: Final[Mapping[str, type[DynawebError]]] = {
    kind.__name__: kind
    for kind in (UserError, StorageError, WorldModelError, SamplerError, MissingDependencyError)
}
"""Errors that mean the same on both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldAbout:
    """Which world is served."""

    version: str
    """Of the world model; written on dreams."""
    schema_version: int = SCHEMA_VERSION
    """Of the records; both sides must have the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Where a dream is to begin."""

    task: str
    seed: int
    start: Start | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A dream that has begun."""

    episode: str
    """Its name in further requests."""
    observation: Observation
    goal: str


def to_json(record: object) -> dict[str, object]:
    """A record's fields as JSON; what holds its default is left out."""
    body = codec_for(type(record)).encode(record)
    assert isinstance(body, dict)
    return body


def from_json(kind: type[T], body: object, where: str) -> T:
    """The record that `to_json` wrote.

    Raises:
        StorageError: it is none; says where.
    """
    record = codec_for(kind).decode(body, where)
    assert isinstance(record, kind)
    return record
