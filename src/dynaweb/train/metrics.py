"""Rows of metrics of one training, as JSON lines in its folder."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from dynaweb.errors import StorageError
from dynaweb.runs.atomic import write_text
from dynaweb.runs.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRow:
    """Progress over the steps since the row before."""

    step: int
    """Steps made so far."""
    planned_steps: int | None
    """Steps in all; None while a wall-clock budget has not fixed them yet."""
    loss: float
    """Mean training loss of the steps of this row, nats per token (or per example, as configured)."""
    lr: float
    """Share of the peak learning rate at the last step, in [0, 1]."""
    grad_norm: float
    """Before clipping, at the last step."""
    tokens_per_sec: float
    """Prompt and completion tokens read per second of wall clock; padding not counted."""
    elapsed_sec: float
    """Wall clock of training so far, over all resumptions."""


def fit_progress(progress: Progress, stage: str) -> Callable[[FitRow], None]:
    """Rows of metrics as a progress bar."""

    def tell(row: FitRow) -> None:
        note = f"loss {row.loss:.3f}, {row.tokens_per_sec:,.0f} tokens/s"
        progress(stage, row.step, row.planned_steps, note)

    return tell


def append_row(path: Path, row: FitRow) -> None:
    """Add one row.

    Raises:
        StorageError: the file cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(asdict(row)) + "\n")
    except OSError as error:
        raise StorageError(f"cannot write metrics to {str(path)!r}: {error}") from error


def drop_rows_after(path: Path, step: int) -> None:
    """Forget rows of steps that a resumed training will make again, and a torn last line."""
    if not path.exists():
        return
    kept = [
        line for line in path.read_text(encoding="utf-8").splitlines() if 0 <= _step(line) <= step
    ]
    write_text(path, "".join(line + "\n" for line in kept))


def _step(line: str) -> int:
    try:
        step = json.loads(line)["step"]
    except (ValueError, KeyError, TypeError):
        return -1
    return step if isinstance(step, int) else -1
