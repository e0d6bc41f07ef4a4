"""Progress for a person: bars on a terminal, a line every ten seconds elsewhere. On stderr; stdout is for results."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import (
    Progress as Bars,
)

from dynaweb.runs.progress import Progress, silent

EVERY_SEC = 10.0
"""Between two lines of one stage where there is no terminal."""


@contextmanager
def drawing(*, quiet: bool) -> Iterator[Progress]:
    """A `Progress` that a person sees; nothing at all when quiet."""
    console = Console(stderr=True)
    if quiet:
        yield silent
    elif console.is_terminal:
        with _bars(console) as bars:
            yield _Bars(bars)
    else:
        yield _Lines()


@contextmanager
def drawing_on_terminal() -> Iterator[Progress]:
    """A bar that goes when its work is done, on a terminal alone: for commands that most often take no time."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield silent
        return
    with _bars(console, transient=True) as bars:
        yield _Bars(bars)


def _bars(console: Console, *, transient: bool = False) -> Bars:
    return Bars(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        console=console,
        transient=transient,
    )


class _Bars:
    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None:
        task = self._tasks.get(stage)
        if task is None:
            task = self._tasks[stage] = self._bars.add_task(stage, total=total, note="")
        self._bars.update(task, completed=done, total=total, note=note)


class _Lines:
    def __init__(self) -> None:
        self._begun: dict[str, float] = {}
        self._next: dict[str, float] = {}

    def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None:
        now = time.monotonic()
        begun = self._begun.setdefault(stage, now)
        finished = total is not None and done >= total
        if now < self._next.get(stage, 0.0) and not finished:
            return
        if self._next.get(stage) == float("inf"):
            return
        self._next[stage] = float("inf") if finished else now + EVERY_SEC
        count = f"{done}/{total}" if total is not None else str(done)
        print(
            f"{stage}: {count} after {now - begun:.0f} s {note}".rstrip(),
            file=sys.stderr,
            flush=True,
        )
