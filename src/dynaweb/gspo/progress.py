"""What a run tells while it goes: one row an iteration, in `metrics.jsonl` and to whoever draws."""

import json
import logging
from collections.abc import Sequence
from pathlib import Path

from dynaweb.batch.summary import Metrics
from dynaweb.errors import StorageError
from dynaweb.gspo.config import GspoConfig
from dynaweb.runs.atomic import write_text
from dynaweb.runs.jsonl import JsonlWriter, read_prefix
from dynaweb.runs.progress import Progress as Progress
from dynaweb.runs.progress import silent as silent

log = logging.getLogger(__name__)

METRICS = "metrics.jsonl"

CLIP_WARNING = 0.5
"""Share of clipped units above which the band is too narrow for such short replies."""

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
            StorageError: not readable or not writable, or rows are missing.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / METRICS
        lines = read_prefix(self._path).lines
        if len(lines) < keep:
            raise StorageError(
                f"{self._path} holds {len(lines)} of the {keep} rows that the checkpoint beside it vouches for: put the file back, or train again in a new folder"
            )
        write_text(self._path, "".join(f"{line}\n" for line in lines[:keep]))

    def append(self, row: Row) -> None:
        """Add the row of the next iteration."""
        with JsonlWriter(self._path) as out:
            out.append(json.dumps(row, allow_nan=False))


def note_of(row: Row) -> str:
    """A few words on an iteration."""
    clipped = row.get("update/clip_fraction")
    words = [f"{row['groups_trained']:.0f} of {row['groups']:.0f} groups teach"]
    for source, name in (("dream", "dreamed"), ("live", "live")):
        reward = row[f"{source}/reward"]
        words += [f"{name} reward {reward:.2f}"] if reward is not None else []
    words += [f"clipped {clipped:.0%}"] if clipped is not None else []
    words += ["update taken back"] if row["guard/skipped"] else []
    dreamed, real = row.get("audit/dreamed_rate"), row.get("audit/real_rate")
    if dreamed is not None and real is not None:
        words.append(f"audit: dreamed {dreamed:.0%}, real {real:.0%}")
    return ", ".join(words)


def warn(row: Row, alarms: Sequence[str], config: GspoConfig) -> None:
    """Log what a person should know of an iteration: a band too narrow, a ratio that is one, dreams that are not true."""
    clipped, at = row.get("update/clip_fraction"), row["iteration"]
    if clipped is not None and clipped > CLIP_WARNING:
        log.warning(
            "%.0f %% of ratios are clipped at iteration %.0f: widen clip (low %g, high %g) or lower the learning rate",
            100 * clipped,
            at,
            config.update.clip.low,
            config.update.clip.high,
        )
    if row.get("update/ratio_is_one") == 1.0:
        log.warning(
            "every ratio is 1 at iteration %.0f: one optimiser step for each batch never clips; use mini_batches above 1",
            at,
        )
    for alarm in alarms:
        log.warning(
            "iteration %.0f: %s; the policy may be learning the world model's mistakes", at, alarm
        )
