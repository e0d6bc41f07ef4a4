"""Chromium's own sandbox: on, except where the system forbids it to root. Which it is, is looked up, not believed."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path

import psutil

log = logging.getLogger(__name__)

WITHOUT = (
    "running as root: Chromium starts WITHOUT ITS SANDBOX, so a page that breaks out of it is root here; "
    "run as another user where pages are not to be trusted"
)
_told: set[str] = set()


def wants_sandbox() -> bool:
    """Whether Chromium is to be started with its sandbox; says so once when not."""
    if os.geteuid() != 0:
        return True
    if WITHOUT not in _told:
        _told.add(WITHOUT)
        log.warning(WITHOUT)
    return False


def is_sandboxed(processes: Iterable[psutil.Process]) -> bool | None:
    """Whether pages are really held in: their processes may make few system calls only (seccomp).

    Args:
        processes: Chromium's first processes; a page must be open.

    Returns:
        None where the system does not tell.
    """
    states: list[str] = []
    for process in processes:
        for child in (process, *process.children(recursive=True)):
            try:
                if "--type=renderer" in child.cmdline():
                    status = Path(f"/proc/{child.pid}/status").read_text("utf-8")
                    states += [line.split()[1] for line in status.splitlines() if line.startswith("Seccomp:")]  # fmt: skip
            except (psutil.Error, OSError):
                continue  # it has ended, or this is no Linux
    return all(state == "2" for state in states) if states else None
