"""Instances of a site: each a process of its own on loopback with a copy of the data of its own.

A server whose parent goes away, however it does, goes too, unless the parent has said that it shall stay.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dynaweb.browser.sites.build import BuiltSite, inner_environment
from dynaweb.browser.sites.catalogue import SiteSpec
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.sites.process import end, locked, started_at, wait_until
from dynaweb.browser.sites.state import (
    LOG,
    STATE,
    InstanceState,
    ask_server,
    list_instances,
    read_state,
    reset_instance,
    sweep_folder,
)
from dynaweb.errors import BrowserError, MissingDependencyError, StorageError, UserError
from dynaweb.runs.jsonfile import write_record

START_SEC = 180.0
"""Longest time a site may take to answer for the first time."""
BACKLOG = 128


@dataclass(frozen=True, slots=True)
class Instance:
    """A running instance."""

    spec: SiteSpec
    state: InstanceState
    folder: Path
    start_sec: float
    """From the beginning of the start to the first answer, in seconds."""

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.folder / LOG

    def reset(self) -> float:
        """Put the seeded data back and forget what is cached; the server stays up.

        Returns:
            Seconds until it answered again.

        Raises:
            BrowserError: it does not answer.
        """
        return reset_instance(self.state)


def start_instance(
    built: BuiltSite, home: SiteHome, name: str, *, port: int = 0, stay: bool = False
) -> Instance:
    """Start a site on 127.0.0.1.

    Args:
        built: the site.
        home: where it was built.
        name: name of the instance.
        port: 0 takes a free one.
        stay: go on when this process ends; by default the server ends with it, however it ends.

    Raises:
        UserError: the name is not one, or an instance of it runs.
        MissingDependencyError: the port is taken, or the site does not start; says why.
        StorageError: the home cannot be written.
    """
    begun = time.perf_counter()
    _check_name(name)
    folder = home.instance(name)
    with _only(home, name):
        old = read_state(folder)
        if old is not None and old.alive:
            raise UserError(
                f"instance {name!r} runs already at http://{old.address}; `dynaweb sites down {name}` stops it"
            )
        with _listening(port) as listening:
            server = _Server(built, folder, name, listening, stay=stay)
        try:
            server.wait_for_answer()
            if stay:
                server.let_go()
        except BaseException:
            server.end()
            raise
    return Instance(built.spec, server.state, folder, time.perf_counter() - begun)


def _check_name(name: str) -> None:
    if not name or len(name) > 60 or not all(c.isascii() and (c.isalnum() or c in "-_") for c in name):  # fmt: skip
        raise UserError(
            f"{name!r} is no name for an instance: use up to 60 letters, digits, '-' and '_'"
        )


@contextmanager
def _only(home: SiteHome, name: str) -> Iterator[None]:
    with locked(home.instances / f"{name}.lock", lambda: None):
        yield


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """A socket that the server will take over: a port that is taken is told at once, and nobody can take it between."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
            listening.listen(BACKLOG)
        except (OSError, OverflowError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise MissingDependencyError(
                f"cannot serve a site on 127.0.0.1:{port}: {why}; use port 0 for a free one"
            ) from error
        yield listening


class _Server:
    """A server process while this process still holds its life line."""

    def __init__(
        self, built: BuiltSite, folder: Path, name: str, listening: socket.socket, *, stay: bool
    ) -> None:
        self._folder = folder
        token = secrets.token_urlsafe(24)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with (folder / LOG).open("wb") as log:
                self._process = subprocess.Popen(
                    [str(built.python), "-s", "-m", "dynaweb.browser.sites.inside.serve"],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=inner_environment(built.code),
                    cwd=folder,
                    pass_fds=[listening.fileno()],
                    start_new_session=True,
                )
        except OSError as error:
            raise StorageError(
                f"cannot start site {built.spec.name!r} in {folder}: {error.strerror}"
            ) from error
        self.state = InstanceState(
            name=name,
            site=built.spec.name,
            seed=built.seed,
            port=listening.getsockname()[1],
            pid=self._process.pid,
            started=started_at(self._process.pid) or "",
            token=token,
            parent_pid=None if stay else os.getpid(),
        )
        write_record(folder / STATE, self.state)
        given = {
            "site": built.spec.name,
            "snapshot": str(built.snapshot),
            "data": str(folder / "data"),
            "token": token,
            "socket": listening.fileno(),
            "robots": built.spec.robots,
        }
        self._say(json.dumps(given))

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it is gone: the wait for its answer tells
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def wait_for_answer(self) -> None:
        """Until the site answers.

        Raises:
            MissingDependencyError: it does not.
        """

        def answers() -> bool:
            if self._process.poll() is not None:
                raise MissingDependencyError(
                    f"site {self.state.site!r} does not start: {_last_line(self._folder / LOG)}"
                )
            try:
                ask_server(self.state, "health")
            except BrowserError:
                return False
            return True

        if not wait_until(answers, START_SEC):
            raise MissingDependencyError(
                f"site {self.state.site!r} did not answer in {START_SEC:g} s; see {self._folder / LOG}"
            )

    def let_go(self) -> None:
        """Have it stay when this process ends."""
        self._say("stay")

    def end(self) -> None:
        """It did not come about."""
        self._process.kill()
        self._process.wait()
        sweep_folder(self._folder)


def _last_line(log: Path) -> str:
    lines = log.read_text("utf-8", errors="replace").strip().splitlines() or ["it said nothing"]
    return f"{lines[-1][:200]}; see {log}"


def stop_instance(home: SiteHome, name: str) -> bool:
    """Stop an instance and remove its data; the log stays. False when its process was gone already.

    Raises:
        UserError: there is none of this name.
    """
    if read_state(home.instance(name)) is None:
        raise UserError(f"no site instance {name!r} is up")
    with _only(home, name):
        state = read_state(home.instance(name))
        if state is None:  # another command was faster
            return False
        was_there = end(state.pid, state.started)
        sweep_folder(home.instance(name))
    return was_there


def sweep_dead(home: SiteHome) -> int:
    """Remove what killed commands left of instances that ended with them; how many."""
    dead = [s for s in list_instances(home) if s.parent_pid is not None and not s.alive]
    for state in dead:
        shutil.rmtree(home.instance(state.name), ignore_errors=True)
        (home.instances / f"{state.name}.lock").unlink(missing_ok=True)
    return len(dead)
