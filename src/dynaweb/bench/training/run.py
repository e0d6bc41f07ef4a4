"""All parts, one after the other, each kept as soon as it is measured: a run that was killed goes on."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch

from dynaweb.bench.training.memory import TIMES, Peak, measure_peak
from dynaweb.bench.training.rival import Rivalry, measure_rival
from dynaweb.bench.training.sampling import measure_sampling
from dynaweb.bench.training.update import measure_update
from dynaweb.bench.training.wish import PARTS, Size, TrainWish, Versus
from dynaweb.errors import UserError
from dynaweb.runs.folder import fingerprint
from dynaweb.runs.jsonfile import read_record, write_record
from dynaweb.runs.progress import Progress
from dynaweb.runs.provenance import provenance

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainReport:
    """What was measured; a part that was not asked for is None or empty."""

    commit: str
    machine: dict[str, str | int]
    threads: int
    update: Versus | None = None
    trl: Rivalry | None = None
    sampling: tuple[Versus, ...] = ()
    memory: tuple[Peak, ...] = ()
    token_budget: int


def measure_training(
    wish: TrainWish, parts: Sequence[str], out: Path, trl_python: str, progress: Progress
) -> TrainReport:
    """Measure the parts that `out` does not hold yet for this wish and this commit.

    Raises:
        UserError: a part that does not exist.
        MissingDependencyError: TRL is asked for and not there.
        TrainingError: another process failed.
    """
    for part in parts:
        if part not in PARTS:
            raise UserError(f"there is no part {part!r}: use some of {', '.join(PARTS)}")
    ran = provenance()
    torch.set_num_threads(wish.threads)
    kept = _Kept(out / fingerprint((wish, ran.commit)))
    update = trl = None
    sampling: list[Versus] = []
    memory: list[Peak] = []
    if "update" in parts:
        said = _said(progress, "update", wish)
        update = kept.one("update", Versus, partial(measure_update, wish, said))
    if "trl" in parts:
        said = _said(progress, "trl", wish)
        trl = kept.one("trl", Rivalry, partial(_rival, wish, trl_python, said))
    if "sampling" in parts:
        for size in Size:
            said = _said(progress, f"sampling {size}", wish)
            work = partial(measure_sampling, wish, size, said)
            sampling.append(kept.one(f"sampling-{size}", Versus, work))
    if "memory" in parts:
        for number, times in enumerate(TIMES):
            memory.append(kept.one(f"memory-{times}", Peak, partial(_peak, wish, times)))
            progress("memory", number + 1, len(TIMES), f"{memory[-1].update_mib:.0f} MiB")
    return TrainReport(
        commit=ran.commit + ("+" if ran.dirty else ""),
        machine=ran.machine,
        threads=wish.threads,
        token_budget=wish.token_budget,
        update=update,
        trl=trl,
        sampling=tuple(sampling),
        memory=tuple(memory),
    )


class _Kept:
    """Results of one wish on one commit."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def one(self, name: str, kind: type[T], work: Callable[[], T]) -> T:
        """Read it, or measure it and keep it."""
        path = self._folder / f"{name}.json"
        if not path.exists():
            write_record(path, work())
        return read_record(kind, path)


def _said(progress: Progress, stage: str, wish: TrainWish) -> Callable[[int, float], None]:
    progress(stage, 0, wish.repeats + 1)
    return lambda done, ratio: progress(stage, done, wish.repeats + 1, f"{ratio:.2f} times")


def _rival(wish: TrainWish, python: str, said: Callable[[int, float], None]) -> Rivalry:
    with tempfile.TemporaryDirectory() as folder:
        return measure_rival(wish, python, Path(folder), said)


def _peak(wish: TrainWish, times: int) -> Peak:
    with tempfile.TemporaryDirectory() as folder:
        return measure_peak(wish, times, Path(folder))
