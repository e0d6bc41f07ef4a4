"""Processes of ours: which one a number means, and how to end it. A number alone may mean another one by now."""

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dynaweb.errors import StorageError

POLL_SEC = 0.05


def started_at(pid: int) -> str | None:
    """When the process began, in words that are the same as long as it lives; None when it does not live."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return None if Path("/proc/self/stat").exists() else _started_by_ps(pid)
    except OSError:
        return None
    # the program's name stands in brackets and may hold anything
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def _started_by_ps(pid: int) -> str | None:
    said = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return None if not said or said.startswith("Z") else said.partition(" ")[2].strip()


def lives(pid: int, started: str) -> bool:
    """Whether this is still the process that began then."""
    return started_at(pid) == started


def end(pid: int, started: str, patience_sec: float = 5.0) -> bool:
    """End a process: politely, then not; whether it was there.

    Args:
        pid: its number.
        started: what `started_at` said of it; another process of the same number is left alone.
        patience_sec: how long it may take to go by itself.
    """
    if not lives(pid, started):
        return False
    for number, patience in ((signal.SIGTERM, patience_sec), (signal.SIGKILL, 5.0)):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        if wait_until(lambda: _gone(pid, started), patience):
            break
    return True


def _gone(pid: int, started: str) -> bool:
    with suppress(ChildProcessError):  # when it is a child of ours, it must be taken leave of
        os.waitpid(pid, os.WNOHANG)
    return not lives(pid, started)


def wait_until(holds: Callable[[], bool], patience_sec: float) -> bool:
    """Look again and again; whether it held in time."""
    deadline = time.monotonic() + patience_sec
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SEC)
    return True


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[int]:
    """Be the only one; children that are given the descriptor hold it too, and outlive a killed parent with it.

    Args:
        path: lock file; made if need be.
        waiting: called again and again while somebody else is inside.

    Yields:
        Descriptor of the lock.

    Raises:
        StorageError: the file cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StorageError(
            f"cannot write {str(path)!r}: {error.strerror}; choose another --home"
        ) from error
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                waiting()
                time.sleep(POLL_SEC)
        yield handle
    finally:
        os.close(handle)
