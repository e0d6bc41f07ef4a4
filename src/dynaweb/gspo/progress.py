"""What a run tells while it goes: one row an iteration, in `metrics.jsonl` and to whoever draws."""

import json
from pathlib import Path

from dynaweb.batch.summary import Metrics
from dynaweb.runs.atomic import write_text
from dynaweb.runs.jsonl import JsonlWriter, read_prefix
from dynaweb.runs.progress import Progress as Progress
from dynaweb.runs.progress import silent as silent

METRICS = "metrics.jsonl"

Row = Metrics
"""Metrics of one iteration; every name is defined in docs/metrics.md."""


class MetricsLog:
    """Rows of iterations 1, 2, 3, ...; a resumed run forgets the rows it will make again."""

    def __init__(self, folder: Path, *, keep: int) -> None:
        """Open for append.

        Args:
            folder: of the run.
            keep: iterations that a checkpoint vouches for.

        Raises:
            StorageError: not readable or not writable.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / METRICS
        lines = read_prefix(self._path).lines
        write_text(self._path, "".join(f"{line}\n" for line in lines[:keep]))

    def append(self, row: Row) -> None:
        """Add the row of the next iteration."""
        with JsonlWriter(self._path) as out:
            out.append(json.dumps(row, allow_nan=False))


def note_of(row: Row) -> str:
    """A few words on an iteration."""
    reward, clipped = row["dream/reward"], row["update/clip_fraction"]
    words = [f"{row['groups_trained']:.0f} of {row['groups']:.0f} groups teach"]
    words += [f"dreamed reward {reward:.2f}"] if reward is not None else []
    words += [f"clipped {clipped:.0%}"] if clipped is not None else []
    return ", ".join(words)
