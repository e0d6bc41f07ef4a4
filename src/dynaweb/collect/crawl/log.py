"""What was seen, page by page, as it is seen: append-only JSON lines in shards, so that a kill loses no acknowledged step.

A line is an `Event`. Visits side by side are mixed; each has its pages in order, then one end. A visit that a kill cut short
gets its end from the next session.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dynaweb.errors import StorageError
from dynaweb.records.action import Action
from dynaweb.records.fieldcodec import codec_for
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault, Reason
from dynaweb.runs.jsonl import JsonlWriter

SHARD_BYTES = 64_000_000
"""A shard that is larger gets no new visit; a visit spans two of them at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A page that was seen, or the end of a visit."""

    visit: int
    n: int
    """0 for the first page, then the number of actions so far; for an end, the number of actions."""
    url: str = ""
    """The address; on the first page alone."""
    seed: int = 0
    """Of the visit's choices; on the first page alone."""
    action: Action | None = None
    """What led to this page; None for the first. On an end: an action whose page nobody saw."""
    fault: Fault | None = None
    page: Observation | None = None
    """None for an end."""
    end: Reason | None = None
    detail: str = ""
    """Of an end: one line for people."""


_CODEC = codec_for(Event)


def dump_event(event: Event) -> str:
    """One JSON line, ASCII."""
    return json.dumps(_CODEC.encode(event))


def load_event(line: str, where: str) -> Event:
    """What `dump_event` wrote.

    Raises:
        StorageError: something else; says where.
    """
    try:
        body = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{where} is damaged: it is not JSON") from error
    event = _CODEC.decode(body, where)
    assert isinstance(event, Event)
    return event


class CrawlLog:
    """The shards of one crawl: `steps-00001.jsonl`, ... Close it, or use it in a `with` block."""

    def __init__(self, folder: Path, *, shard_bytes: int = SHARD_BYTES) -> None:
        """Open for append; the torn line that a kill may have left goes aside.

        Raises:
            StorageError: damaged before its last line, or not writable.
        """
        self._folder, self._most = folder, shard_bytes
        self._number = max(1, len(shards(folder)))
        self._writer = JsonlWriter(_shard(folder, self._number), sync=False)
        self._bytes = _shard(folder, self._number).stat().st_size

    @property
    def shard(self) -> int:
        """Number of the shard where a new visit begins; a full one is left before."""
        if self._bytes >= self._most:
            self._writer.close()
            self._number += 1
            self._writer = JsonlWriter(_shard(self._folder, self._number), sync=False)
            self._bytes = 0
        return self._number

    def append(self, event: Event) -> None:
        """Write an event; on return it outlives this process.

        Raises:
            StorageError: disk full or gone.
        """
        line = dump_event(event)
        self._writer.append(line)
        self._bytes += len(line) + 1

    def close(self) -> None:
        """Safe to call twice."""
        self._writer.close()

    def __enter__(self) -> "CrawlLog":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _shard(folder: Path, number: int) -> Path:
    return folder / f"steps-{number:05d}.jsonl"


def shards(folder: Path) -> list[Path]:
    """The files of a crawl's log, in order."""
    return sorted(folder.glob("steps-[0-9][0-9][0-9][0-9][0-9].jsonl"))


def read_events(folder: Path, first_shard: int = 1) -> Iterator[Event]:
    """Every event from a shard on, one at a time; a torn last line is left out.

    Raises:
        StorageError: a file is damaged.
    """
    for path in shards(folder)[first_shard - 1 :]:
        try:
            with path.open(encoding="ascii") as file:
                for number, line in enumerate(file, 1):
                    if line.endswith("\n"):
                        yield load_event(line, f"{path.name}, line {number}")
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"cannot read {path}: {error}") from error
