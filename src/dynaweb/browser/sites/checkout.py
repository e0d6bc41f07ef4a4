"""Apps of a checkout laid out as webarena-infinity (web-arena-x, MIT): their tasks, their servers, their verifiers.

`apps/APP/server.py` serves itself, `apps/APP/{real,function}-tasks.json` holds the tasks, and each task names a Python
verifier. Those are programs of the user's: they run in processes of their own, with the user's rights, and only when
the user has said that the checkout is to be trusted.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from dynaweb.browser.sites.home import INSIDE
from dynaweb.errors import BrowserError, MissingDependencyError, UserError

SUITES = ("real-tasks.json", "function-tasks.json")
START_SEC = 60.0
VERDICT_SEC = 120.0
ANSWER_SEC = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AppTask:
    """One task of one app."""

    app: str
    task_id: str
    goal: str
    verifier: Path
    difficulty: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A folder of the user's, and what may be done with it."""

    root: Path
    trusted: bool = False
    """Its programs may be run."""
    python: str = sys.executable
    """Interpreter for the verifiers; webarena-infinity's need the package `requests`."""

    def require_trust(self) -> None:
        """Refuse to run anything that the user has not allowed.

        Raises:
            UserError: it is not trusted.
        """
        if not self.trusted:
            raise UserError(
                f"the tasks in {str(self.root)!r} are Python programs that would run with your rights: read them, then add --trust-checkout"
            )

    def apps(self) -> tuple[str, ...]:
        """Names of the apps.

        Raises:
            UserError: the folder has another layout.
        """
        found = tuple(sorted(p.parent.name for p in self.root.glob("apps/*/server.py")))
        if not found:
            raise UserError(
                f"no apps in {str(self.root)!r}: expected apps/NAME/server.py, as in a checkout of webarena-infinity"
            )
        return found

    def tasks(self, app: str) -> tuple[AppTask, ...]:
        """All tasks of an app, the real ones first.

        Raises:
            UserError: no such app, or its lists cannot be read; says where.
        """
        if app not in self.apps():
            near = get_close_matches(app, self.apps(), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UserError(f"no app {app!r} in {str(self.root)!r}{hint}")
        folder = self.root / "apps" / app
        return tuple(t for suite in SUITES for t in _read_suite(folder, folder / suite))

    def find(self, app: str, task_id: str) -> AppTask:
        """A task by its id.

        Raises:
            UserError: there is none.
        """
        tasks = self.tasks(app)
        for task in tasks:
            if task.task_id == task_id:
                return task
        near = get_close_matches(task_id, [t.task_id for t in tasks], n=3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise UserError(f"no task {task_id!r} in app {app!r}{hint}")


def _read_suite(folder: Path, path: Path) -> Iterator[AppTask]:
    if not path.is_file():
        return
    try:
        rows: object = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{str(path)!r} is not JSON: {error}") from error
    if not isinstance(rows, list):
        raise UserError(f"{str(path)!r} must hold a list of tasks")
    for number, row in enumerate(rows):
        fields = row if isinstance(row, dict) else {}
        given = [fields.get(name) for name in ("id", "instruction", "verify")]
        if not all(isinstance(value, str) and value for value in given):
            raise UserError(
                f"{str(path)!r}: task {number} needs the texts `id`, `instruction` and `verify`"
            )
        task_id, goal, verify = (str(value) for value in given)
        verifier = (folder / verify).resolve()
        if not verifier.is_relative_to(folder.resolve()) or not verifier.is_file():
            raise UserError(
                f"{str(path)!r}: task {task_id!r} names the verifier {verify!r}, which is no file of its app"
            )
        yield AppTask(
            app=folder.name,
            task_id=task_id,
            goal=" ".join(goal.split()),
            verifier=verifier,
            difficulty=str(fields.get("difficulty") or ""),
        )


@dataclass(frozen=True, slots=True)
class AppServer:
    """An app's own server, running."""

    app: str
    port: int

    def reset(self) -> None:
        """Back to the seed.

        Raises:
            BrowserError: it does not answer, or says no.
        """
        status = self._request("POST", "/api/reset")[0]
        if status != 200:
            raise BrowserError(f"app {self.app!r} cannot be reset: status {status}")

    def state(self) -> object:
        """What the app has told its server; None before a page was opened.

        Raises:
            BrowserError: it does not answer, or not in JSON.
        """
        status, body = self._request("GET", "/api/state")
        if status == 404:
            return None
        try:
            return json.loads(body)
        except ValueError as error:
            raise BrowserError(f"app {self.app!r} gives a state that is not JSON") from error

    def _request(self, method: str, path: str) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SEC)
        try:
            connection.request(method, path, headers={"Content-Length": "0"})
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, HTTPException) as error:
            raise BrowserError(f"app {self.app!r} does not answer: {error}") from error
        finally:
            connection.close()


@contextmanager
def serving(checkout: Checkout, app: str, log: Path) -> Iterator[AppServer]:
    """The app's server on a free port of loopback, whatever address it asks for; it ends with this process.

    Args:
        checkout: trusted.
        app: its name.
        log: file for what it says.

    Raises:
        UserError: no such app, or the checkout is not trusted.
        MissingDependencyError: it does not start; names the log.
    """
    checkout.require_trust()
    checkout.tasks(app)
    script = checkout.root / "apps" / app / "server.py"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as said:
        process = subprocess.Popen(
            [sys.executable, "-I", str(INSIDE / "loopback.py"), str(script.resolve())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, cwd=script.parent, start_new_session=True,
        )  # fmt: skip
    try:
        yield AppServer(app, _port(process, app, log))
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


def _port(process: "subprocess.Popen[bytes]", app: str, log: Path) -> int:
    assert process.stdout is not None
    with DefaultSelector() as selector:
        selector.register(process.stdout, EVENT_READ)
        line = process.stdout.readline() if selector.select(START_SEC) else b""
    try:
        return int(json.loads(line)["port"])
    except (ValueError, KeyError, TypeError) as error:
        raise MissingDependencyError(
            f"app {app!r} did not open a port in {START_SEC:g} s, or ended; see {log}"
        ) from error


def ask_verifier(checkout: Checkout, task: AppTask, server: AppServer) -> tuple[bool, str]:
    """Whether the task's verifier is content with the app's state, and why.

    Raises:
        UserError: the checkout is not trusted.
        BrowserError: the verifier failed, was too slow or gave no answer: nobody knows then.
    """
    checkout.require_trust()
    where = f"verifier of {task.app}/{task.task_id}"
    command = [checkout.python, "-I", str(INSIDE / "verify.py"), str(task.verifier), f"http://127.0.0.1:{server.port}"]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=VERDICT_SEC, check=False,
            stdin=subprocess.DEVNULL, cwd=task.verifier.parent,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise BrowserError(f"{where}: no answer in {VERDICT_SEC:g} s") from error
    except OSError as error:
        raise BrowserError(f"{where}: cannot run {checkout.python!r}: {error.strerror}") from error
    try:
        said = json.loads(done.stdout)
        return bool(said["passed"]), str(said["why"])
    except (ValueError, KeyError, TypeError) as error:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise BrowserError(f"{where}: {last[:200]}") from error
