"""A step that fails fails again: a run is a function of its seeds. Said once plainly instead of looping.

The first failure is noted in the run's folder. The same iteration failing once more ends with a clear error,
and from then on the run is refused at once, before anything is dreamt, until somebody removes the note.
"""

import json
from pathlib import Path
from types import TracebackType

from dynaweb.errors import DynawebError, StorageError, TrainingError
from dynaweb.runs.atomic import read_json, write_json

NOTE = "failed.json"
MOST = 2
"""Failures of one iteration that are enough to know."""


class Trying:
    """One iteration under way; failures that would come again are noted.

    Kills, interrupts and what machine or network refuse are not: the next time may be better.

    Example:
        with Trying(folder, iteration):
            ...
    """

    def __init__(self, folder: Path, iteration: int) -> None:
        """Look at what is noted.

        Args:
            folder: of the run.
            iteration: from 1.

        Raises:
            TrainingError: this iteration has failed twice already.
            StorageError: the note cannot be read.
        """
        self._path, self._iteration = folder / NOTE, iteration
        self._before, said = _noted(self._path, iteration)
        if self._before >= MOST:
            raise TrainingError(_again(self._path, iteration, self._before, said))

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Note a failure, or forget the one before.

        Raises:
            TrainingError: the iteration failed for the second time.
        """
        if error is None:
            self._path.unlink(missing_ok=True)
            return
        if not _comes_again(error):
            return
        named = isinstance(error, DynawebError)
        said = str(error) if named else f"{type(error).__name__}: {error}"
        times = self._before + 1
        write_json(self._path, {"iteration": self._iteration, "times": times, "error": said})
        if times >= MOST:
            raise TrainingError(_again(self._path, self._iteration, times, said)) from error


def _comes_again(error: BaseException) -> bool:
    if isinstance(error, DynawebError):
        return isinstance(error, TrainingError)
    return isinstance(error, Exception) and not isinstance(error, OSError)


def _again(path: Path, iteration: int, times: int, said: str) -> str:
    return f"iteration {iteration} has failed {times} times in the same way: {said} (the checkpoint before it is whole; begin a new folder with other settings, or delete {str(path)!r} to try once more)"


def _noted(path: Path, iteration: int) -> tuple[int, str]:
    note = read_json(path)
    if note is None or note.get("iteration") != iteration:
        return 0, ""
    times = note.get("times")
    if not isinstance(times, int):
        raise StorageError(f"{path} is damaged: {json.dumps(note)[:200]}; delete it")
    return times, str(note.get("error"))
