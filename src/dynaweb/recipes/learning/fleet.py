"""Commands of this program as processes, several at a time; none outlives the one that started them.

A child reads its standard input, whose other end only the parent holds: when that closes, whatever became of the
parent, the child ends (`tied`), and goes on when the same command is run again.
"""

import os
import signal
import subprocess
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event, Lock, Thread

from dynaweb.errors import MissingDependencyError, TrainingError, UserError
from dynaweb.runs.progress import Progress

STDIN = 0
"""Number of a process's standard input."""
LINES = 5
"""Last lines that a child said and that are kept."""
MOST_SAID = 500
"""Characters of a child's last line that an error repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One process to be run to its end."""

    name: str
    command: Sequence[str]
    after: str | None = None
    """Name of an errand earlier in the list that must have ended before."""


class _Fleet:
    """Children under way, and how they ended."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total = progress, total
        self._lock, self._done = Lock(), 0
        self._children: list[subprocess.Popen[str]] = []
        self._ended: dict[str, Event] = {}
        self._stopped = False

    def expect(self, name: str) -> None:
        """An errand with this name will come."""
        self._ended[name] = Event()

    def run(self, errand: Errand) -> None:
        """One errand, from its beginning to its end.

        Raises:
            UserError, MissingDependencyError, TrainingError: it ended in error; whose turn it is.
        """
        if errand.after is not None:
            self._ended[errand.after].wait()
        with self._lock:
            if self._stopped:
                return
            child = subprocess.Popen(
                list(errand.command),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
            self._children.append(child)
        said: deque[str] = deque(maxlen=LINES)
        assert child.stderr is not None
        for line in child.stderr:
            said.append(line.strip())
            self._progress("runs", self._done, self._total, f"{errand.name}: {line.strip()}")
        code = child.wait()
        if code != 0:
            if self._stopped:
                return
            raise _ended_badly(errand.name, code, said)
        with self._lock:
            self._done += 1
        self._progress("runs", self._done, self._total, errand.name)
        self._ended[errand.name].set()

    def stop(self) -> None:
        """End every child that is still there, and begin no other."""
        with self._lock:
            self._stopped = True
        for child in self._children:
            if child.poll() is None:
                child.terminate()
        for event in self._ended.values():
            event.set()


def work_off(errands: Sequence[Errand], jobs: int, progress: Progress) -> None:
    """Run all of them, in order, `jobs` at a time; after the first that fails none is begun.

    Raises:
        UserError, MissingDependencyError, TrainingError: one ended in error; its last line is in the message.
    """
    fleet = _Fleet(progress, len(errands))
    for errand in errands:
        fleet.expect(errand.name)
    progress("runs", 0, len(errands))
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        open_ones: set[Future[None]] = {pool.submit(fleet.run, e) for e in errands}
        try:
            while open_ones:
                done, open_ones = wait(open_ones, return_when=FIRST_COMPLETED)
                for ended in done:
                    ended.result()
        finally:
            fleet.stop()


def tied() -> None:
    """End this process, as by SIGTERM, when the one that holds the other end of its standard input is gone."""

    def watch() -> None:
        # not through `sys.stdin`, whose lock a thread may not hold while Python shuts down
        while os.read(STDIN, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, daemon=True, name="tied").start()


def _ended_badly(
    name: str, code: int, said: Sequence[str]
) -> UserError | MissingDependencyError | TrainingError:
    last = (said[-1] if said else "nothing").removeprefix("dynaweb: ")[:MOST_SAID]
    message = f"run {name!r} ended with exit code {code} and said: {last}"
    match code:
        case 2:
            return UserError(message)
        case 4:
            return MissingDependencyError(message)
    return TrainingError(message)
