"""Training state on disk: a checkpoint is either whole or not there.

It is written aside, flushed, marked with the checksum of every file, and renamed. Reading takes the
newest that is whole; one that is not is set aside as `damaged-...` and the one before it is used.
Tensors are safetensors, the rest is JSON; nothing is unpickled.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from dynaweb.errors import StorageError
from dynaweb.runs.atomic import sync

FORMAT: Final = 1
MARKER: Final = "COMPLETE.json"
STATE: Final = "state.json"
KEEP: Final = 2
"""Whole checkpoints kept: the newest, and one to fall back on."""

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A whole checkpoint, its checksums verified."""

    folder: Path
    """Where it lies."""
    step: int
    """Steps made when it was written."""
    state: Mapping[str, Json]
    """What `save_checkpoint` was given."""
    damaged: tuple[str, ...] = ()
    """Newer checkpoints that were not whole and have been set aside, for the log."""

    def tensors(self, name: str) -> dict[str, Tensor]:
        """One of the groups of tensors.

        Raises:
            StorageError: no such group.
        """
        try:
            return load_file(self.folder / f"{name}.safetensors")
        except (OSError, SafetensorError) as error:
            raise StorageError(
                f"checkpoint {str(self.folder)!r} has no readable {name!r}: {error}"
            ) from error


def save_checkpoint(
    folder: Path, step: int, tensors: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, Json]
) -> Path:
    """Write one, then delete all but the newest `KEEP`.

    Args:
        folder: Holds the checkpoints of one training.
        step: Steps made so far; the name of the checkpoint.
        tensors: Groups of named tensors, a file each.
        state: Everything else.

    Raises:
        StorageError: disk full or folder not writable; the checkpoints before it are untouched.
    """
    final = folder / f"step-{step:08d}"
    aside = folder / f".writing-{step:08d}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(".*-????????"):
            shutil.rmtree(leftover)
        aside.mkdir()
        for name, group in tensors.items():
            save_file(
                {k: v.detach().contiguous() for k, v in group.items()},
                aside / f"{name}.safetensors",
            )
        (aside / STATE).write_text(
            json.dumps({"step": step, "state": dict(state)}), encoding="utf-8"
        )
        sums = {p.name: _checksum(p) for p in sorted(aside.iterdir())}
        (aside / MARKER).write_text(
            json.dumps({"format": FORMAT, "sha256": sums}), encoding="utf-8"
        )
        for path in (*aside.iterdir(), aside):
            sync(path)
        if final.exists():
            shutil.rmtree(final)
        aside.rename(final)
        sync(folder)
        for old in sorted(folder.glob("step-*"))[:-KEEP]:
            _delete(old)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise StorageError(f"cannot write a checkpoint to {str(folder)!r}: {error}") from error
    return final


def latest_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest whole checkpoint, or None when there is none."""
    damaged: list[str] = []
    for path in sorted(folder.glob("step-*"), reverse=True):
        step = _verified_step(path)
        if step is None:
            aside = path.with_name(f"damaged-{path.name}")
            shutil.rmtree(aside, ignore_errors=True)
            path.rename(aside)
            damaged.append(aside.name)
            continue
        state = json.loads((path / STATE).read_text(encoding="utf-8"))["state"]
        return Checkpoint(folder=path, step=step, state=state, damaged=tuple(damaged))
    return None


def _verified_step(path: Path) -> int | None:
    try:
        marker = json.loads((path / MARKER).read_text(encoding="utf-8"))
        whole = marker["format"] == FORMAT and all(
            _checksum(path / n) == s for n, s in marker["sha256"].items()
        )
        step = json.loads((path / STATE).read_text(encoding="utf-8"))["step"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return step if whole and isinstance(step, int) else None


def _delete(path: Path) -> None:
    # Renamed first: a kill in the middle must not leave half a checkpoint under a good name.
    aside = path.with_name(f".deleted-{path.name.removeprefix('step-')}")
    path.rename(aside)
    shutil.rmtree(aside)


def _checksum(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
