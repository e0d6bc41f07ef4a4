"""How far a file is read, for a person at a terminal: files of gigabytes and files of three lines go through the same commands."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from dynaweb.dataset.imports.source import unpacked_bytes
from dynaweb.dataset.imports.tally import Tally
from dynaweb.runs.progress import Progress

T = TypeVar("T")

PATIENCE_SEC = 0.5
"""A file that is read sooner shows nothing."""
EVERY_SEC = 0.2


def watched(items: Iterable[T], path: Path, tally: Tally, progress: Progress) -> Iterator[T]:
    """The same items.

    Args:
        items: what is read of the file, as it is read.
        path: the file.
        tally: of that reading.
        progress: stage `read`, in MB; without a total where the file is packed.
    """
    size = unpacked_bytes(path)
    total = None if size is None else size >> 20
    due = time.monotonic() + PATIENCE_SEC
    for item in items:
        if (now := time.monotonic()) > due:
            due = now + EVERY_SEC
            progress("read", tally.read_bytes >> 20, total, f"MB, {tally.rows} rows")
        yield item
