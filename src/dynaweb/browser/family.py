"""The processes of one browser: which they are, what they use, and how to end them all.

Chromium's helpers overwrite their environment, so a family is known by two signs: a temporary folder of its own in
the environment of driver and browser, and the process groups that these lead (Playwright gives each browser one).
"""

import os
import signal
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

GONE = (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess)
PATIENCE_SEC = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a process and everything below it hold."""

    processes: int
    rss_mb: float
    """Resident memory summed over processes, in MB of 10^6 bytes; what they share counts once for each."""
    descriptors: int
    """Open file descriptors."""


def group_of(process: psutil.Process) -> int | None:
    """Process group; None when it has ended."""
    try:
        return os.getpgid(process.pid)
    except (ProcessLookupError, PermissionError):
        return None


def lives(process: psutil.Process) -> bool:
    """It runs or is stopped; what has ended and waits to be taken leave of does not live."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except GONE:
        return False


def members(folder: Path, groups: Collection[int] = ()) -> list[psutil.Process]:
    """Every living process of the browser whose temporary folder this is.

    Args:
        folder: its temporary folder.
        groups: process groups that were its own, for helpers that have outlived their leader.
    """
    mine = os.getuid()
    everyone: dict[int, psutil.Process] = {}
    marked: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        with suppress(*GONE):
            if process.uids().real != mine:
                continue
            everyone[process.pid] = process
            if process.environ().get("TMPDIR") == str(folder):
                marked[process.pid] = process
    # the driver runs in its owner's group, which is not the browser's to end
    led = {pid for pid, p in marked.items() if group_of(p) == pid}
    # a leader that is not marked got the number later, and its group is somebody else's
    led |= {g for g in groups if g not in everyone or g in marked}
    helpers = {pid: p for pid, p in everyone.items() if group_of(p) in led}
    return [p for pid, p in (marked | helpers).items() if pid != os.getpid() and lives(p)]


def send(processes: Iterable[psutil.Process], number: int) -> None:
    """Send each a signal; those that have ended are passed over."""
    for process in processes:
        with suppress(*GONE):
            process.send_signal(number)


def kill(processes: Iterable[psutil.Process], patience_sec: float = PATIENCE_SEC) -> int:
    """End them without asking; how many still live after a while."""
    asked = list(processes)
    send(asked, signal.SIGKILL)
    psutil.wait_procs(asked, timeout=patience_sec)
    return sum(map(lives, asked))


def usage(pid: int) -> Usage:
    """What the process and all its descendants hold now; those that end meanwhile are left out."""
    root = psutil.Process(pid)
    rss, descriptors, count = 0, 0, 0
    for process in (root, *root.children(recursive=True)):
        with suppress(*GONE):
            held = process.memory_info().rss
            descriptors += process.num_fds()
            rss += held
            count += 1
    return Usage(processes=count, rss_mb=rss / 1e6, descriptors=descriptors)
