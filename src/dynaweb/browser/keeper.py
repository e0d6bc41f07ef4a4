"""Ends a browser when the process that started it is gone, however that ended: `python -m dynaweb.browser.keeper FOLDER`.

A browser that works sees its pipe close and ends by itself; one that hangs does not. The keeper reads a pipe whose
other end only the owner holds: the kernel closes it at the owner's death, even by SIGKILL. Lines are process
groups of the browser.
"""

import subprocess
import sys
from pathlib import Path

from dynaweb.browser.family import kill, members
from dynaweb.browser.scratch import remove


def start_keeper(folder: Path) -> subprocess.Popen[bytes]:
    """Start a keeper for the browser of this folder, out of reach of the terminal's Ctrl-C."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dynaweb.browser.keeper", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def keep(folder: Path) -> None:
    """Wait for the owner's end, then end what it has left."""
    groups = {int(line) for line in sys.stdin if line.strip().isdigit()}
    kill(members(folder, groups))
    remove(folder)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
