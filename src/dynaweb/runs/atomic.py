"""Whole files or none: written aside, flushed to disk, renamed."""

import glob
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from dynaweb.errors import StorageError


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """A text file to write piece by piece; it stands at `path` once the block has ended well.

    A block that raises leaves what was there before.

    Raises:
        StorageError: the folder is missing, full or not writable, or `path` is a device, a pipe or a folder.
    """
    require_replaceable(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        _sweep(path)
        with aside.open("w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        sync(path.parent)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            aside.unlink()


def _sweep(path: Path) -> None:
    """Remove what processes that were killed left beside `path`; those that still run keep theirs."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        owner = left.name.removeprefix(f".{path.name}.").removesuffix(".part")
        if owner.isdecimal() and not _runs(int(owner)):
            left.unlink(missing_ok=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's, or no number of a process
        return True
    return True


def require_replaceable(path: Path) -> None:
    """Refuse a place where no whole file can stand: renaming would put one in a device's stead.

    Raises:
        StorageError: a device, a pipe or a folder stands there, or the path names none.
    """
    try:
        stands = path.exists()
    except OSError as error:
        raise StorageError(f"cannot write {str(path)!r}: {error.strerror}") from error
    if stands and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise StorageError(f"cannot write {str(path)!r}: it is {kind}; name a file")


def write_text(path: Path, text: str) -> None:
    """Put `text` at `path`; a reader sees the old file or the new one, never half of one.

    Raises:
        StorageError: the folder is missing, full or not writable.
    """
    with writing(path) as file:
        file.write(text)


def write_json(path: Path, value: object) -> None:
    """`write_text` of readable JSON, keys in the order given.

    Raises:
        StorageError: as `write_text`, or the value holds something JSON has no word for.
    """
    try:
        text = json.dumps(value, indent=2, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StorageError(f"cannot write {path}: {error}") from error
    write_text(path, text + "\n")


def read_json(path: Path) -> dict[str, object] | None:
    """The object in a JSON file; None when there is no such file.

    Raises:
        StorageError: damaged, or not a JSON object.
    """
    try:
        value: object = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path} is damaged: it is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise StorageError(f"{path} is damaged: expected a JSON object")
    return value


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, survive a power cut.

    Raises:
        OSError: the path cannot be opened.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
