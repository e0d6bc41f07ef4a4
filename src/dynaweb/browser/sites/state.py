"""What is known of an instance, and what may be asked of it by whoever knows that.

It stands in the instance's folder (`state.json`), with the process's number and the time it began: a number alone may
mean another process by now.
"""

import json
import shutil
import time
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from dynaweb.browser.sites.catalogue import find_site
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.sites.process import lives
from dynaweb.errors import BrowserError, StorageError, UserError
from dynaweb.runs.jsonfile import read_record

STATE = "state.json"
LOG = "server.log"
ANSWER_SEC = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceState:
    """What stands in `state.json`; the folder is readable by its owner alone."""

    name: str
    site: str
    seed: int
    port: int
    pid: int
    started: str
    """When the process began, as `process.started_at` says it."""
    token: str
    """Whoever knows it may reset the instance."""
    parent_pid: int | None = None
    """The process that it ends with; None when it stays until it is told to stop."""

    @property
    def address(self) -> str:
        """`127.0.0.1:40123`."""
        return f"127.0.0.1:{self.port}"

    @property
    def alive(self) -> bool:
        """Its process runs."""
        return lives(self.pid, self.started)


def reset_instance(state: InstanceState) -> float:
    """`Instance.reset`, from what is known of it."""
    begun = time.perf_counter()
    ask_server(state, "reset")
    return time.perf_counter() - begun


def ask_server(state: InstanceState, verb: str) -> None:
    """Tell the server something only its parent may say.

    Raises:
        BrowserError: no answer, or another server's.
    """
    connection = HTTPConnection("127.0.0.1", state.port, timeout=ANSWER_SEC)
    try:
        connection.request("POST", f"/-/dynaweb/{verb}", headers={"X-Dynaweb-Token": state.token})
        response = connection.getresponse()
        body = response.read(10_000)
        said = json.loads(body) if response.status == 200 else {}
    except (OSError, HTTPException, ValueError) as error:
        raise BrowserError(f"site instance {state.name!r} does not answer: {error}") from error
    finally:
        connection.close()
    if not isinstance(said, dict) or said.get("pid") != state.pid:
        raise BrowserError(
            f"site instance {state.name!r}: port {state.port} answers {response.status}, and is not ours"
        )


def sweep_folder(folder: Path) -> None:
    """Remove what only a running instance needs; the log stays."""
    (folder / STATE).unlink(missing_ok=True)
    for name in ("data", "data.new", "data.old"):
        shutil.rmtree(folder / name, ignore_errors=True)


def read_state(folder: Path) -> InstanceState | None:
    """What is known of the instance in a folder; None when there is none.

    Raises:
        StorageError: the file is damaged.
    """
    path = folder / STATE
    if not path.is_file():
        return None
    try:
        return read_record(InstanceState, path)
    except StorageError as error:
        raise StorageError(
            f"{error}; delete that file, and end its server by hand if one still runs"
        ) from error


def list_instances(home: SiteHome) -> list[InstanceState]:
    """Every instance that has not been stopped, by name; some may be dead."""
    found = (read_state(folder) for folder in sorted(home.instances.glob("*")) if folder.is_dir())
    return [state for state in found if state is not None]


def find_instance(home: SiteHome, name: str) -> InstanceState:
    """A running instance.

    Raises:
        UserError: there is none of this name, or it is dead.
    """
    state = read_state(home.instance(name))
    if state is None:
        running = ", ".join(s.name for s in list_instances(home)) or "none"
        raise UserError(f"no site instance {name!r} is up (up: {running})")
    if not state.alive:
        raise UserError(
            f"site instance {name!r} is dead: its process {state.pid} is gone; `dynaweb sites up {state.site}` starts it anew"
        )
    find_site(state.site)
    return state
