"""What training commands that stand by themselves share: files of attempts in, judge and gate of a world model's folder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dynaweb.bench.results import FidelityReport
from dynaweb.contracts import WorldModel
from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.run import read_trajectories
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import UserError
from dynaweb.judge.calibrate import load_calibration
from dynaweb.judge.config import JudgeConfig
from dynaweb.recipes.gate import Gain, gain_of, measured
from dynaweb.recipes.worldly import CALIBRATION, FIDELITY
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.jsonfile import read_record

FIDELITY_STAGE = "fidelity"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAttempts:
    """Attempts from files, and what was left out of them."""

    attempts: tuple[Trajectory, ...]
    dropped: dict[str, int]
    """Reason -> how many rows or steps of the files."""


NOTHING_READ = ReadAttempts(attempts=(), dropped={})


def read_attempts(files: Iterable[Path], what: str) -> ReadAttempts:
    """Attempts of any format that `dynaweb import` reads.

    Args:
        files: in order.
        what: what they are for, for the message.

    Raises:
        UserError: no such file, of no known format, or no attempt in any of them.
        StorageError: one cannot be read.
    """
    tally, found = Tally(), []
    named = [str(f) for f in files]
    for file in map(Path, named):
        found += list(read_trajectories(file, detect(file), Provenance(), tally))
    if not found:
        why = ", ".join(f"{n} {reason}" for reason, n in tally.dropped.items())
        raise UserError(
            f"no attempt in {', '.join(map(repr, named))} for {what}{f' ({why})' if why else ''}: "
            "give a file of trajectories, as `dynaweb collect` or `dynaweb import` writes it"
        )
    return ReadAttempts(attempts=tuple(found), dropped=dict(tally.dropped))


def judge_of(world: Path) -> tuple[JudgeConfig, Path | None]:
    """The judge's bars that were measured for a world model, and where they were found; the defaults without any.

    Beside its weights, or where a run keeps what it measured.

    Raises:
        StorageError: they are damaged.
    """
    for folder in (world / CALIBRATION, world.parent / FIDELITY_STAGE / CALIBRATION):
        if folder.is_dir():
            return load_calibration(folder).judge_config(), folder
    return JudgeConfig(), None


def gain_over_copy(
    folder: Path | None,
    world: WorldModel,
    held_out: Sequence[Trajectory],
    confidence: float,
    *,
    show_goal: bool,
) -> Gain:
    """What a world model knows beyond copying: measured on the attempts given, else as its run measured it.

    Raises:
        StorageError: the run's table is damaged.
    """
    table = folder.parent / FIDELITY_STAGE / FIDELITY if folder is not None else None
    if not held_out and table is not None and table.is_file():
        return gain_of(read_record(FidelityReport, table), confidence)
    return measured(world, held_out, confidence, show_goal=show_goal)
