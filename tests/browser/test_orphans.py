"""Whatever kills us, our browser ends and its folder goes."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from dynaweb.browser.family import group_of, kill, lives, members, send
from dynaweb.browser.scratch import LOCK, PREFIX, sweep

pytestmark = pytest.mark.browser

OWNER = """
import asyncio
from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig

async def main():
    pool = BrowserPool(BrowserConfig(prefetch=0))
    await pool.page()
    print(pool.running.scratch.path, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


class Owned:
    """A process of its own with a browser, and everything that belongs to it."""

    def __init__(self, temporary: Path) -> None:
        self.owner = subprocess.Popen(
            [sys.executable, "-c", OWNER],
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.defpath, "PYTHONPATH": ":".join(sys.path), "TMPDIR": str(temporary)},
        )
        # the owner's own temporary folder is not its browser's
        assert self.owner.stdout is not None
        self.folder = Path(self.owner.stdout.readline().strip())
        assert self.folder.parent == temporary
        self.family = members(self.folder)
        below = psutil.Process(self.owner.pid).children()
        self.keeper = next(p for p in below if "dynaweb.browser.keeper" in p.cmdline())

    def die(self) -> None:
        self.owner.kill()
        self.owner.wait()

    def alive(self) -> list[psutil.Process]:
        return [p for p in self.family if lives(p)]


@pytest.fixture
def owned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Owned]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = Owned(tmp_path)
    yield found
    kill([*found.family, found.keeper])
    found.die()
    assert found.owner.stdout is not None
    found.owner.stdout.close()


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


@pytest.mark.parametrize("hung", [False, True], ids=["working", "hung"])
def test_a_killed_owner_leaves_nothing(owned: Owned, hung: bool) -> None:
    names = {p.name() for p in owned.family}
    assert len(owned.family) >= 4 and any("node" in n for n in names), names
    assert sweep() == 0, "what has an owner is left alone"
    if hung:
        send(owned.family, signal.SIGSTOP)
    owned.die()
    assert within(10, lambda: not owned.alive()), owned.alive()
    assert within(10, lambda: not owned.folder.exists())
    assert within(10, lambda: not lives(owned.keeper))


@pytest.mark.parametrize("hung", [False, True], ids=["working", "hung"])
def test_when_the_keeper_is_killed_too_the_next_start_cleans_up(owned: Owned, hung: bool) -> None:
    if hung:
        send(owned.family, signal.SIGSTOP)
    kill([owned.keeper])
    owned.die()
    if hung:
        assert owned.alive(), "nobody ends what hangs"
    else:
        assert within(10, lambda: not owned.alive()), "a browser sees its pipe close"
    assert owned.folder.exists()
    assert sweep() == 1
    assert not owned.folder.exists()
    assert within(10, lambda: not owned.alive())


def test_a_folder_that_is_being_made_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    young, old, foreign = tmp_path / f"{PREFIX}young", tmp_path / f"{PREFIX}old", tmp_path / "other"
    for folder in (young, old, foreign):
        folder.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(foreign)
    os.utime(old, (0, 0))
    os.utime(foreign, (0, 0))
    assert sweep() == 1
    assert young.exists() and foreign.exists() and not old.exists()


def test_the_family_is_the_browser_alone(owned: Owned) -> None:
    """The driver runs in its owner's process group; the owner and its other children are not the browser's."""
    neighbour = subprocess.Popen(["sleep", "60"])
    with suppress(psutil.Error):
        assert group_of(psutil.Process(neighbour.pid)) == group_of(owned.family[0])
    found = {p.pid for p in members(owned.folder)}
    assert not found & {os.getpid(), owned.owner.pid, neighbour.pid, owned.keeper.pid}
    assert (owned.folder / LOCK).read_text() == str(owned.owner.pid)
    neighbour.kill()
    neighbour.wait()
