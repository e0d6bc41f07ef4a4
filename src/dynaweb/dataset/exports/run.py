"""Export: trajectories into a folder that another tool reads, streaming, with what was left out counted."""

import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from dynaweb.dataset.card import dataset_card
from dynaweb.dataset.exports.atif import atif_document
from dynaweb.dataset.exports.chat import DATASET_INFO, FILE, chat_row
from dynaweb.dataset.exports.formats import ExportFormat
from dynaweb.dataset.exports.sessiontrace import file_name, trace_lines
from dynaweb.dataset.imports.run import needs_data
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.policy import step_examples
from dynaweb.dataset.surrogates import clean_json
from dynaweb.errors import MissingDependencyError, StorageError, UserError
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step, Trajectory
from dynaweb.runs.atomic import write_json, write_text, writing


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportWish:
    """What to write."""

    out: Path
    """Folder, empty or not there yet; it is filled at once when the export is whole."""
    format: ExportFormat
    license: str = ""
    """Licence of trajectories that name none."""
    thoughts: bool = False
    """Chat formats: with what was thought before the action."""
    failures: bool = False
    """Chat formats: attempts that did not succeed as well."""


def export(trajectories: Iterable[Trajectory], wish: ExportWish) -> Tally:
    """Write the folder; `steps` of the tally counts examples or steps written.

    Raises:
        UserError: a trajectory's licence is unknown, or the folder holds an export already.
        StorageError: the folder cannot be written.
        MissingDependencyError: the format needs a package that is not there.
    """
    tally = Tally()
    with _filled(wish.out) as folder:
        _write(_licensed(trajectories, wish, tally), folder, wish, tally)
    return tally


def _write(licensed: Iterator[Trajectory], folder: Path, wish: ExportWish, tally: Tally) -> None:
    match wish.format:
        case ExportFormat.TRL_MESSAGES | ExportFormat.TRL_PROMPT | ExportFormat.SHAREGPT:
            write_rows(folder / FILE, _chat_rows(licensed, wish, tally), tally)
            if wish.format is ExportFormat.SHAREGPT:
                write_json(folder / "dataset_info.json", DATASET_INFO)
        case ExportFormat.ATIF:
            write_rows(
                folder / "trajectories.jsonl",
                (atif_document(_without_tokens(t, tally)) for t in _counted(licensed, tally)),
                tally,
            )
        case ExportFormat.SESSION_TRACE:
            for number, trajectory in enumerate(_counted(licensed, tally)):
                path = folder / file_name(trajectory, number)
                write_rows(path, trace_lines(_without_tokens(trajectory, tally)), tally)
        case ExportFormat.PARQUET:
            _write_parquet(_counted(licensed, tally), folder, wish, tally)
        case _:
            assert_never(wish.format)


def _write_parquet(
    trajectories: Iterable[Trajectory], folder: Path, wish: ExportWish, tally: Tally
) -> None:
    try:
        from dynaweb.dataset.exports import parquet  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingDependencyError(needs_data("Parquet", error.name)) from error
    counted: list[Trajectory] = []
    parquet.write_parquet(folder / "train.parquet", _seen(trajectories, wish, counted), tally)
    card = dataset_card(counted, title=wish.out.absolute().name, layout=parquet.LAYOUT)
    write_text(folder / "README.md", card)


def _seen(
    trajectories: Iterable[Trajectory], wish: ExportWish, counted: list[Trajectory]
) -> Iterator[Trajectory]:
    """The trajectories, and what the card counts of each: no pages, so that memory stays small."""
    blank = Step(observation=Observation(url="", title="", tree=""))
    for found in trajectories:
        licensed = replace(found, license=found.license or wish.license)
        bare = replace(licensed, steps=(blank,) * len(found.steps), past=(), final=None)
        counted.append(bare)
        yield licensed


@contextmanager
def _filled(out: Path) -> Iterator[Path]:
    """A folder aside, whose files stand in `out` once the block has ended well.

    What fails or is killed leaves `out` as it was, so that the same command works again.
    """
    whole = out.absolute()
    aside = whole.parent / f".{whole.name}.part"
    try:
        held = sorted(p.name for p in whole.iterdir()) if whole.exists() else []
        if held:
            raise UserError(
                f"{str(out)!r} is not empty ({', '.join(held[:3])}): choose another --out, or empty it"
            )
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        yield aside
        _move(aside, whole)
    except OSError as error:
        raise StorageError(f"cannot write {str(out)[:200]!r}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _move(aside: Path, whole: Path) -> None:
    if not whole.exists():
        aside.replace(whole)
        return
    # somebody may stand in the folder: it is filled, not replaced
    for file in sorted(aside.iterdir()):
        file.replace(whole / file.name)


def _licensed(
    trajectories: Iterable[Trajectory], wish: ExportWish, tally: Tally
) -> Iterator[Trajectory]:
    for trajectory in trajectories:
        tally.rows += 1
        if not (trajectory.license or wish.license):
            raise UserError(
                f"the licence of trajectory {trajectory.trajectory_id[:80]!r} is unknown, so it is not exported: say it with --license"
            )
        yield trajectory


def _chat_rows(
    trajectories: Iterable[Trajectory], wish: ExportWish, tally: Tally
) -> Iterator[dict[str, object]]:
    for trajectory in trajectories:
        before = tally.steps
        found = step_examples(trajectory, thoughts=wish.thoughts, failures=wish.failures)
        for number, example in enumerate(found):
            if isinstance(example, str):
                tally.drop(example, f"{trajectory.trajectory_id[:80]!r} step {number}")
            else:
                tally.steps += 1
                yield chat_row(example, wish.format)
        tally.trajectories += tally.steps > before


def _counted(trajectories: Iterable[Trajectory], tally: Tally) -> Iterator[Trajectory]:
    for trajectory in trajectories:
        tally.trajectories += 1
        tally.steps += len(trajectory.steps)
        yield trajectory


def _without_tokens(trajectory: Trajectory, tally: Tally) -> Trajectory:
    """Counts the sampler's token ids, for which only our own formats have a place."""
    count = sum(len(step.generations) for step in trajectory.steps)
    tally.note("token ids of a reply are left out", trajectory.trajectory_id[:80], count)
    return trajectory


def write_rows(path: Path, rows: Iterable[dict[str, object]], tally: Tally) -> None:
    """Write JSON lines, whole or not at all; halves of surrogate pairs are replaced and counted.

    Raises:
        StorageError: the file cannot be written.
    """
    with writing(path) as file:
        for number, row in enumerate(rows, start=1):
            cleaned, lone = clean_json(row)
            tally.note("half a surrogate pair became U+FFFD", f"{path.name}:{number}", lone)
            file.write(json.dumps(cleaned, ensure_ascii=False, allow_nan=False) + "\n")
