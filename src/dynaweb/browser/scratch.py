"""A temporary folder for one browser: profile, artifacts and whatever else it writes. It does not outlive us for long.

The folder's lock is held as long as we live, by the kernel: it is free when we were killed, whatever numbers
processes have by then. Whoever makes the next folder removes those whose lock is free.
"""

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from dynaweb.browser.family import kill, members
from dynaweb.errors import MissingDependencyError

PREFIX = "dynaweb-browser-"
LOCK = "lock"
YOUNG_SEC = 60.0
"""A folder without a lock may be one that is being made."""


class Scratch:
    """The folder and its lock."""

    def __init__(self) -> None:
        """Make it; folders that nobody holds any more are removed first.

        Raises:
            MissingDependencyError: the temporary folder cannot be written.
        """
        sweep()
        try:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            os.write(self._lock, str(os.getpid()).encode())
        except OSError as error:
            raise MissingDependencyError(
                f"cannot write in {tempfile.gettempdir()!r}: {error.strerror or error}; set TMPDIR to a folder with space"
            ) from error
        self._open = True

    def close(self) -> None:
        """Remove it; safe to call twice."""
        if self._open:
            self._open = False
            remove(self.path)
            os.close(self._lock)


def remove(path: Path) -> None:
    """Remove a browser's folder; a helper that is just ending may write into it once more."""
    for _ in range(10):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        time.sleep(0.1)


def folders() -> list[Path]:
    """Browsers' temporary folders of this user, in use or not."""
    found = []
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            about = path.lstat()
            if about.st_uid == os.getuid() and path.is_dir() and not path.is_symlink():
                found.append(path)
    return found


def held_by(pid: int) -> list[Path]:
    """Folders that the process made."""
    found = []
    for path in folders():
        with suppress(OSError):
            if (path / LOCK).read_text("ascii", errors="replace") == str(pid):
                found.append(path)
    return found


def sweep() -> int:
    """Remove folders of processes that are gone, and end what still lives in them; how many there were."""
    dead = [path for path in folders() if _abandoned(path)]
    for path in dead:
        kill(members(path))
        remove(path)
    return len(dead)


def _abandoned(path: Path) -> bool:
    try:
        lock = os.open(path / LOCK, os.O_RDWR)
    except FileNotFoundError:
        with suppress(OSError):
            return time.time() - path.stat().st_mtime > YOUNG_SEC
        return False
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
