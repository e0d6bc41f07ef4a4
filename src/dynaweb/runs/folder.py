"""One run, one folder: what was asked, what ran, which stages are done, and who is writing.

    run.json          configuration, seed, commit, versions, machine
    sessions.jsonl    one line for every time the run was started or taken up again
    lock              held by the process that writes
    <stage>/          what a stage leaves, and inside it
      stage.begun.json  the inputs it began with
      stage.done.json   the inputs it finished with, seconds, and its own few facts

Running the same command again goes on. Another configuration in the same folder is refused, unless the run before it left nothing:
a command that was wrong, or stopped at once, does not keep its mended self out.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import TextIO

from dynaweb.errors import StorageError, UserError
from dynaweb.runs.atomic import read_json, write_json
from dynaweb.runs.differences import differences
from dynaweb.runs.jsonl import JsonlWriter
from dynaweb.runs.provenance import provenance

RUN_SCHEMA = 1
"""Version of `run.json` and of the stage markers."""
OWN_FILES = frozenset({"run.json", "lock", "sessions.jsonl"})
"""What a run folder holds before anything is made in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageDone:
    """A finished stage."""

    seconds: float
    """Time it took, all sessions together, as the recipe measured it."""
    facts: Mapping[str, object]
    """What the recipe wants to find again without reading the stage's files."""


class RunFolder:
    """A run's folder, held by one writer.

    Example:
        with RunFolder(Path("runs/demo"), config=config, seed=0, argv=sys.argv) as run:
            if run.done("collect", inputs) is None:
                folder = run.begin("collect", inputs)
                ...
                run.finish("collect", inputs, seconds=12.5, facts={"episodes": 400})
    """

    def __init__(
        self,
        path: Path,
        *,
        config: object,
        seed: int,
        argv: tuple[str, ...] = (),
        may_differ: frozenset[str] = frozenset(),
    ) -> None:
        """Open the folder, or make it, and take its lock.

        Args:
            path: the folder.
            config: dataclass with everything that decides the result.
            seed: the run's seed.
            argv: the command, for the record.
            may_differ: dotted configuration keys that change no result (browser path, threads).

        Raises:
            UserError: the folder belongs to another run, to something else, or to a process that is running.
            StorageError: it cannot be written, or its `run.json` is damaged.
        """
        self.path = path
        check_folder(path, config=config, seed=seed, may_differ=may_differ)
        self._lock = _locked(path)
        try:
            self.resumed = check_folder(path, config=config, seed=seed, may_differ=may_differ)
            """The folder held this run already."""
            if not self.resumed:
                about = {"schema_version": RUN_SCHEMA, "seed": seed, "config": plain(config)}
                write_json(path / "run.json", {**about, **asdict(provenance())})
            self.notices = self._record_session(argv)
            """What a reader of the result should know, such as code that changed half-way."""
        except BaseException:
            self.close()
            raise

    def _record_session(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        now, begun = provenance(), read_json(self.path / "run.json") or {}
        line = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "pid": os.getpid(),
            "argv": list(argv),
            **asdict(now),
        }
        with JsonlWriter(self.path / "sessions.jsonl") as out:
            out.append(json.dumps(line))
        notices = []
        if (begun.get("commit"), begun.get("dirty")) != (now.commit, now.dirty):
            notices.append(f"begun with code {_code(begun)}, taken up with {_code(asdict(now))}")
        notices += [
            f"versions: {t}" for t in differences(begun.get("versions"), now.versions).values()
        ]
        return tuple(notices)

    def stage(self, name: str) -> Path:
        """Where a stage keeps its files; made by `begin`."""
        return self.path / name

    def done(self, name: str, inputs: object = None) -> StageDone | None:
        """How the stage finished; None when it has not, or not from these inputs.

        Raises:
            StorageError: its marker is damaged.
        """
        marker = read_json(self.stage(name) / "stage.done.json")
        if marker is None or marker.get("inputs") != fingerprint(inputs):
            return None
        seconds, facts = marker.get("seconds"), marker.get("facts")
        if not isinstance(seconds, int | float) or not isinstance(facts, dict):
            raise StorageError(
                f"{self.stage(name) / 'stage.done.json'} is damaged; delete it to run the stage again"
            )
        return StageDone(seconds=float(seconds), facts=facts)

    def begin(self, name: str, inputs: object = None) -> Path:
        """The stage's folder, ready to begin or to go on: what other inputs left in it is removed.

        Raises:
            StorageError: it cannot be written.
        """
        folder, begun = self.stage(name), {"inputs": fingerprint(inputs)}
        try:
            if folder.exists() and read_json(folder / "stage.begun.json") != begun:
                shutil.rmtree(folder)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "stage.done.json").unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"cannot write {folder}: {error.strerror}") from error
        write_json(folder / "stage.begun.json", begun)
        return folder

    def finish(
        self,
        name: str,
        inputs: object = None,
        *,
        seconds: float,
        facts: Mapping[str, object] | None = None,
    ) -> None:
        """Mark the stage done; the last thing a stage does.

        Raises:
            StorageError: the marker cannot be written, or a fact is not JSON.
        """
        write_json(
            self.stage(name) / "stage.done.json",
            {
                "inputs": fingerprint(inputs),
                "seconds": round(seconds, 3),
                "facts": dict(facts or {}),
            },
        )

    def close(self) -> None:
        """Let another process write; safe to call twice."""
        self._lock.close()

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def check_folder(
    path: Path, *, config: object, seed: int, may_differ: frozenset[str] = frozenset()
) -> bool:
    """Whether the folder holds this very run; nothing is written.

    A run of another configuration that has left nothing is no hindrance: its folder counts as new.

    Raises:
        UserError: it holds what another run has made, or something that is no run, or is a file.
        StorageError: its `run.json` is damaged.
    """
    try:
        before = read_json(path / "run.json")
    except StorageError as error:
        raise StorageError(
            f"{error}; delete the folder to begin again, or choose another"
        ) from error
    if before is None:
        _refuse_strangers(path)
        return False
    why = _another(before, {"seed": seed, "config": plain(config)}, may_differ)
    if not why:
        return True
    if not _made_in(path):
        return False
    raise UserError(f"{str(path)!r} {why}; choose another folder, or delete this one")


def _another(
    before: Mapping[str, object], now: Mapping[str, object], may_differ: frozenset[str]
) -> str:
    """Why a run is not the one asked for; empty when it is."""
    if before.get("schema_version") != RUN_SCHEMA:
        return "was written by another version of dynaweb"
    theirs, ours = before.get("config"), now["config"]
    if isinstance(theirs, dict) and isinstance(ours, dict) and not theirs.keys() & ours.keys():
        return "holds what another command made (the last line of its sessions.jsonl says which)"
    changed = differences({"seed": before.get("seed"), "config": theirs}, now)
    lines = [t for key, t in changed.items() if key.removeprefix("config.") not in may_differ]
    if not lines:
        return ""
    shown = "; ".join(lines[:4]) + (f"; and {len(lines) - 4} more" if len(lines) > 4 else "")
    return f"holds a run of another configuration ({shown})"


def _made_in(path: Path) -> list[str]:
    """Names of what stands in a folder beside what every run puts there; hidden ones are nobody's work."""
    return sorted(p.name for p in path.iterdir() if p.name not in OWN_FILES and p.name[0] != ".")


def require_free(path: Path) -> None:
    """Make a run's folder, to learn early that it can be made and that nobody writes in it.

    Raises:
        UserError: another process does. StorageError: it cannot be made.
    """
    _locked(path).close()


def _locked(path: Path) -> TextIO:
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / "lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise StorageError(
            f"cannot write in {str(path)!r}: {error.strerror}; choose a folder you can write"
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.seek(0)
        holder = lock.read(20).strip() or "unknown"
        lock.close()
        raise UserError(
            f"another process (pid {holder}) is writing in {str(path)!r}; wait for it, or choose another folder"
        ) from error
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock


def _refuse_strangers(path: Path) -> None:
    if not path.is_dir():
        if path.exists():
            raise UserError(f"{str(path)!r} is a file: name a folder")
        return
    if found := _made_in(path):
        raise UserError(
            f"{str(path)!r} is not a run folder and holds {found[0]!r}; choose an empty or a new folder"
        )


def plain(value: object) -> object:
    """A configuration as JSON holds it: dataclasses become objects, paths and enums text, tuples lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted(str(v) for v in value)
    return value if isinstance(value, str | int | float) or value is None else str(value)


def fingerprint(value: object) -> str:
    """Sixteen hexadecimal digits that change when the value does; the same on every machine."""
    text = json.dumps(plain(value), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _code(info: Mapping[str, object]) -> str:
    commit = str(info.get("commit") or "unknown")[:12]
    return f"{commit} with local changes" if info.get("dirty") else commit
