"""Append-only JSON lines that survive a kill at any byte.

A line counts once its line end is on disk. A reader gets the exact valid prefix and is told what it left out; a writer
moves a torn tail aside before it appends. Damage in the middle is never repaired silently.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dynaweb.errors import StorageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """The readable beginning of a file."""

    lines: tuple[str, ...]
    """Whole lines, each a JSON object, without line ends."""
    valid_bytes: int
    """Where the readable part ends."""
    dropped_bytes: int = 0
    """Bytes after it."""
    damage: str = ""
    """Why reading stopped; empty when the whole file was read."""
    torn: bool = False
    """The damage is one unfinished last line, as a kill leaves it: nothing acknowledged was lost."""


def read_prefix(path: Path) -> Prefix:
    """Every line up to the first damaged one; a missing file is empty.

    Raises:
        StorageError: the file cannot be opened.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Prefix(lines=(), valid_bytes=0)
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    lines: list[str] = []
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        raw = data[at:] if end < 0 else data[at:end]
        problem = "the last line has no end" if end < 0 else _problem(raw)
        if problem:
            rest = data[end + 1 :] if end >= 0 else b""
            return Prefix(
                lines=tuple(lines),
                valid_bytes=at,
                dropped_bytes=len(data) - at,
                damage=f"{path.name}: line {len(lines) + 1}: {problem}",
                torn=end < 0 or (b"\0" in raw and not rest.strip(b"\0\n")),
            )
        lines.append(raw.decode("utf-8"))
        at = end + 1
    return Prefix(lines=tuple(lines), valid_bytes=at)


def _problem(raw: bytes) -> str:
    if b"\0" in raw:
        return "holds NUL bytes, as a crash of the machine leaves them"
    try:
        value: object = json.loads(raw)
    except (ValueError, RecursionError):
        return "is not JSON"
    return "" if isinstance(value, dict) else "is not a JSON object"


class JsonlWriter:
    """Appends lines to one file. One writer at a time (runs.folder holds the lock).

    Example:
        with JsonlWriter(folder / "trajectories.jsonl") as out:
            out.append(dump(trajectory))
    """

    def __init__(self, path: Path, *, sync: bool = True) -> None:
        """Open for append; a torn tail goes to `<name>.torn` first.

        Args:
            path: file; its folder must exist.
            sync: fsync after every append, so that an acknowledged line survives a power cut; without, a kill of the process.

        Raises:
            StorageError: damaged before its last line, or not writable.
        """
        self._path, self._sync = path, sync
        self.repaired = repair(path)
        """What was moved aside; empty when the file was whole."""
        try:
            self._file = path.open("ab")
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror}") from error

    def append(self, *lines: str) -> None:
        """Write lines; on return they are on disk.

        Raises:
            StorageError: disk full or gone.
            ValueError: a line holds a line end.
        """
        self.extend(lines)

    def extend(self, lines: Iterable[str]) -> None:
        """`append`, with one sync for all."""
        data = [line.encode("utf-8") for line in lines]
        if any(b"\n" in d for d in data):
            raise ValueError("a JSON line cannot hold a line end")
        try:
            self._file.write(b"".join(d + b"\n" for d in data))
            self._file.flush()
            if self._sync:
                os.fsync(self._file.fileno())
        except OSError as error:
            raise StorageError(f"cannot write {self._path}: {error.strerror}") from error

    def close(self) -> None:
        """Safe to call twice."""
        self._file.close()

    def __enter__(self) -> "JsonlWriter":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def repair(path: Path) -> str:
    """Cut a torn tail off and keep it in `<name>.torn`; says what was done, empty for a whole file.

    Raises:
        StorageError: the damage is not at the end, so cutting would lose good lines.
    """
    prefix = read_prefix(path)
    if not prefix.damage:
        return ""
    if not prefix.torn:
        raise StorageError(
            f"{path}: {prefix.damage}; nothing was changed: move the file away, or delete that line by hand"
        )
    try:
        with path.open("r+b") as file:
            file.seek(prefix.valid_bytes)
            tail = file.read()
            with path.with_name(path.name + ".torn").open("ab") as side:
                side.write(tail + b"\n")
                side.flush()
                os.fsync(side.fileno())
            file.truncate(prefix.valid_bytes)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StorageError(f"cannot repair {path}: {error.strerror}") from error
    return f"{prefix.damage}: {prefix.dropped_bytes} bytes moved to {path.name}.torn"
