"""Build a site: an environment of its own, then seeded data. Each half is made once, and marked when it is whole."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dynaweb.browser.sites.catalogue import SiteSpec
from dynaweb.browser.sites.home import INSIDE, PACKAGE, SiteHome
from dynaweb.browser.sites.packages import Packages
from dynaweb.browser.sites.process import locked
from dynaweb.errors import MissingDependencyError
from dynaweb.runs.jsonfile import read_record, write_record
from dynaweb.runs.progress import Progress, silent

ENVIRONMENT_MARK = "ready.json"
DATA_MARK = "made.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Written at the very end of a half of the build."""

    sec: float
    """How long that half took, in seconds."""
    made: Mapping[str, int]
    """How many there are of each thing: packages, products, topics, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltSite:
    """A site that can be started."""

    spec: SiteSpec
    seed: int
    python: Path
    code: Path
    snapshot: Path
    environment: Ready
    data: Ready


def find_built(spec: SiteSpec, home: SiteHome, seed: int = 0) -> BuiltSite | None:
    """The site if it is built already; None otherwise.

    Raises:
        StorageError: a mark is damaged.
    """
    environment, data = home.environment(spec), home.seeded(spec, seed)
    marks = environment / ENVIRONMENT_MARK, data / DATA_MARK
    if not all(mark.is_file() for mark in marks):
        return None
    return BuiltSite(
        spec=spec,
        seed=seed,
        python=environment / "bin" / "python",
        code=_code(home),
        snapshot=data / "snapshot",
        environment=read_record(Ready, marks[0]),
        data=read_record(Ready, marks[1]),
    )


def build_site(
    spec: SiteSpec, home: SiteHome, seed: int = 0, progress: Progress = silent
) -> BuiltSite:
    """Build what is not built yet. A build that was killed goes on with the half that it was in.

    Args:
        spec: which site.
        home: where to.
        seed: of the data.
        progress: stages `install NAME` and `seed NAME`; `wait for NAME` while another process builds it.

    Raises:
        MissingDependencyError: a package cannot be had, or a script failed; names the log.
        StorageError: the home cannot be written.
    """
    with _building(spec, home, progress) as lock:
        data = home.seeded(spec, seed)
        _install_missing(spec, home, lock, progress)
        if not (data / DATA_MARK).is_file():
            _seed(spec, home, seed, lock, progress)
    built = find_built(spec, home, seed)
    assert built is not None
    return built


def find_environment(packages: Packages, home: SiteHome) -> Path | None:
    """The environment that holds the packages, once it is whole; None otherwise."""
    place = home.environment(packages)
    return place if (place / ENVIRONMENT_MARK).is_file() else None


def build_environment(packages: Packages, home: SiteHome, progress: Progress = silent) -> Path:
    """The environment that holds the packages, made where it is not there yet.

    Raises:
        MissingDependencyError: a package cannot be had; names the log.
        StorageError: the home cannot be written.
    """
    with _building(packages, home, progress) as lock:
        _install_missing(packages, home, lock, progress)
    return home.environment(packages)


@contextmanager
def _building(packages: Packages, home: SiteHome, progress: Progress) -> Iterator[int]:
    """One process at a time; the descriptor that an installer holds too, so that a killed parent is not overtaken."""

    def wait() -> None:
        progress(f"wait for {packages.name}", 0, None, "another process builds it")

    with locked(home.build_lock(packages), wait) as lock:
        yield lock


def _install_missing(spec: Packages, home: SiteHome, lock: int, progress: Progress) -> None:
    """Make the environment anew where it has no mark, and mark it when it is whole."""
    if find_environment(spec, home) is not None:
        return
    environment = home.environment(spec)
    stage, wanted = f"install {spec.name}", spec.requirements
    begun = time.monotonic()
    progress(stage, 0, len(wanted) + 1, "new environment")
    said = _Said(home.build_log(spec), lock)
    environment.parent.mkdir(parents=True, exist_ok=True)
    said.run([sys.executable, "-m", "venv", "--clear", str(environment)], "no new environment")
    list_file = environment / "packages.txt"
    list_file.write_text(spec.lock, encoding="utf-8")
    collected = 0

    def look(line: str) -> None:
        nonlocal collected
        if line.startswith("Collecting "):
            collected = min(collected + 1, len(wanted))
            progress(stage, collected, len(wanted) + 1, line.split()[1][:40])
        elif line.startswith("Installing collected"):
            progress(stage, len(wanted), len(wanted) + 1, "unpacking")

    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--no-input"]
    said.run(
        [*pip, "--disable-pip-version-check", "--progress-bar", "off", "-r", str(list_file)],
        f"the packages of {spec.name!r} cannot be installed (is the package index reachable?)",
        look,
    )
    mark = Ready(sec=time.monotonic() - begun, made={"packages": len(wanted)})
    write_record(environment / ENVIRONMENT_MARK, mark)
    progress(stage, len(wanted) + 1, len(wanted) + 1, f"{mark.sec:.0f} s")


def _seed(spec: SiteSpec, home: SiteHome, seed: int, lock: int, progress: Progress) -> None:
    stage, begun = f"seed {spec.name}", time.monotonic()
    data, code = home.seeded(spec, seed), _code(home)
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    made: dict[str, int] = {}

    def look(line: str) -> None:
        told = json.loads(line) if line.startswith("{") else {}
        if "made" in told:
            made.update(told["made"])
        elif "done" in told:
            progress(stage, told["done"], told["total"], told["note"])

    python = home.environment(spec) / "bin" / "python"
    _Said(home.build_log(spec), lock).run(
        [str(python), "-s", "-m", "dynaweb.browser.sites.inside.seed"],
        f"the data of site {spec.name!r} cannot be made",
        look,
        environment=inner_environment(code),
        given=json.dumps({"site": spec.name, "data": str(data / "snapshot"), "seed": seed}) + "\n",
    )
    write_record(data / DATA_MARK, Ready(sec=time.monotonic() - begun, made=made))


def inner_environment(code: Path) -> dict[str, str]:
    """Variables of a site's processes: nothing of the caller's, so that they behave alike everywhere."""
    return {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(code),
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }


def _code(home: SiteHome) -> Path:
    """Put a copy of our inner scripts into the home: their environment holds no dynaweb, and shall not."""
    place = home.code()
    if place.is_dir():
        return place
    aside = place.with_name(f"{place.name}.{time.monotonic_ns()}.part")
    inner = aside / "dynaweb" / INSIDE.relative_to(PACKAGE)
    shutil.copytree(INSIDE, inner, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in inner.relative_to(aside).parents:
        if folder != Path():
            (aside / folder / "__init__.py").touch()
    try:
        aside.rename(place)
    except OSError:  # another process was faster, with the same content
        shutil.rmtree(aside)
    return place


class _Said:
    """Runs a part of the build; what it says goes into the log, line by line."""

    def __init__(self, log: Path, lock: int) -> None:
        self._log = log
        self._lock = lock
        log.parent.mkdir(parents=True, exist_ok=True)

    def run(
        self,
        command: Sequence[str],
        trouble: str,
        look: Callable[[str], None] = lambda _: None,
        *,
        environment: Mapping[str, str] | None = None,
        given: str = "",
    ) -> None:
        """Run to the end.

        Args:
            command: program and arguments.
            trouble: what it means when it fails.
            look: called with every line.
            environment: variables; the caller's own by default (an installer needs them).
            given: its standard input.

        Raises:
            MissingDependencyError: it failed.
        """
        last = ""
        with self._log.open("a", encoding="utf-8") as log:
            child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                encoding="utf-8", errors="replace", env=environment, pass_fds=[self._lock],
            )  # fmt: skip
            assert child.stdin is not None and child.stdout is not None
            try:
                child.stdin.write(given)
                child.stdin.close()
                for line in child.stdout:
                    log.write(line)
                    last = line.strip() or last
                    look(line.strip())
                code = child.wait()
            finally:
                child.kill()
                child.wait()
        if code:
            raise MissingDependencyError(f"{trouble}: {last[:200]}; see {self._log}")
