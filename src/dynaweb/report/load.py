"""From a run folder to `ReportData`. What is missing stays empty; what is damaged is named on the page."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from dynaweb.bench.results import FidelityReport, JudgeReport, ReplayReport
from dynaweb.errors import StorageError, UserError
from dynaweb.evaluate.plan import PLAN_FILE, EvaluationPlan, load_plan, plan_hash
from dynaweb.evaluate.results import RESULTS_FILE, EvaluationResults
from dynaweb.evaluate.run import episodes_file, last_attempts
from dynaweb.records.codec import load_as
from dynaweb.records.trajectory import Trajectory
from dynaweb.report.choose import choose_attempts
from dynaweb.report.data import (
    Attempt,
    Curve,
    DreamedPages,
    ReportData,
    ReportFiles,
    RunInfo,
    Summary,
)
from dynaweb.report.page import render_report
from dynaweb.runs.atomic import read_json, write_text
from dynaweb.runs.jsonfile import read_record
from dynaweb.runs.jsonl import read_prefix

T = TypeVar("T")

DEFAULT_FILES = ReportFiles()

SOURCES = ("live", "dream", "expert")

HIDDEN = frozenset({"iteration", "seconds", "schema_version"})
"""Fields of a metrics line that are no curve."""


class _Reader:
    """Reads files, and keeps what could not be read."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def __call__(self, path: Path, read: Callable[[Path], T], otherwise: T) -> T:
        if not path.exists():
            return otherwise
        try:
            return read(path)
        except StorageError as error:
            self.problems.append(f"Could not be read: {error}")
            return otherwise


def load_report(folder: Path, files: ReportFiles = DEFAULT_FILES) -> ReportData:
    """Gather what a run has left.

    Raises:
        UserError: the folder is no run folder.
    """
    if not (folder / files.run).exists():
        raise UserError(f"{str(folder)!r} is not a run folder: it has no {files.run}")
    read = _Reader()
    evaluation = folder / files.evaluation
    results = _record(read, EvaluationResults, evaluation / RESULTS_FILE)
    summary = _record(read, Summary, folder / files.summary)
    pages = _record(read, DreamedPages, folder / files.dreamed_pages)
    plan = _plan(read, folder / files.plan, evaluation, results)
    return ReportData(
        run=read(
            folder / files.run, lambda p: _run(folder, files), RunInfo(name=folder.name, seed=0)
        ),
        plan=plan,
        results=results,
        curves=read(folder / files.metrics, read_curves, ()),
        fidelity=_record(read, FidelityReport, folder / files.fidelity),
        judge=_record(read, JudgeReport, folder / files.judge),
        replays=_record(read, ReplayReport, folder / files.replays),
        dreamed_pages=pages.pages if pages is not None else (),
        attempts=_attempts(read, folder, files, results),
        summary=summary or Summary(),
        problems=tuple(read.problems),
    )


def write_report(folder: Path, out: Path, files: ReportFiles = DEFAULT_FILES) -> ReportData:
    """Make the report of a run folder.

    Args:
        folder: the run.
        out: HTML file to write.
        files: where the run keeps what the report shows.

    Returns:
        What the report shows, for the terminal's tables.

    Raises:
        UserError: the folder is no run folder. StorageError: `out` cannot be written.
    """
    data = load_report(folder, files)
    write_text(out, render_report(data))
    return data


def read_curves(path: Path) -> tuple[Curve, ...]:
    """Learning curves: `source/name` is a curve of its source, any other name belongs to all.

    Raises:
        StorageError: the file cannot be opened.
    """
    points: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for line in read_prefix(path).lines:
        row: dict[str, object] = json.loads(line)
        at = row.get("iteration")
        if not isinstance(at, int | float):
            continue
        for key, value in row.items():
            if key in HIDDEN or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            points.setdefault(_split(key), []).append((float(at), float(value)))
    return tuple(
        Curve(metric=metric, source=source, points=tuple(sorted(p)))
        for (metric, source), p in points.items()
    )


def _split(key: str) -> tuple[str, str]:
    source, slash, name = key.partition("/")
    return (name, source) if slash and source in SOURCES else (key, "all")


def _plan(
    read: _Reader, fixed: Path, evaluation: Path, results: EvaluationResults | None
) -> EvaluationPlan | None:
    """The plan as it was fixed; a plan that changed afterwards is told to the reader."""
    no_plan: EvaluationPlan | None = None
    first = read(fixed / PLAN_FILE, lambda p: load_plan(p.parent), no_plan)
    used = read(evaluation / PLAN_FILE, lambda p: load_plan(p.parent), no_plan)
    if first is not None and used is not None and first != used:
        read.problems.append(
            "The evaluation did not follow the plan that was fixed when the run began."
        )
    plan = used or first
    if results is not None and plan is not None and results.plan_hash != plan_hash(plan):
        read.problems.append("The results were made by another plan than the one on disk.")
    return plan


def _record(read: _Reader, kind: type[T], path: Path) -> T | None:
    otherwise: T | None = None
    return read(path, lambda p: read_record(kind, p), otherwise)


def _run(folder: Path, files: ReportFiles) -> RunInfo:
    body = read_json(folder / files.run) or {}
    sessions = read_prefix(folder / files.sessions).lines
    first: dict[str, object] = json.loads(sessions[0]) if sessions else {}
    config = body.get("config")
    name = config.get("name") if isinstance(config, dict) else None
    argv, seed = first.get("argv"), body.get("seed")
    return RunInfo(
        name=str(name or folder.name),
        seed=seed if isinstance(seed, int) else 0,
        commit=str(body.get("commit") or ""),
        dirty=bool(body.get("dirty")),
        command=" ".join(str(a) for a in argv) if isinstance(argv, list) else "",
        started=str(first.get("at") or "").replace("T", " "),
        machine=_machine(body.get("machine")),
        versions=_flat(body.get("versions")),
        config=_flat(config),
    )


def _machine(found: object) -> str:
    if not isinstance(found, dict):
        return ""
    memory = found.get("memory_mib")
    words = [
        found.get("processor"),
        f"{found['cores']} cores" if "cores" in found else None,
        f"{memory / 1024:.0f} GiB" if isinstance(memory, int | float) else None,
    ]
    return ", ".join(str(w) for w in words if w)


def _flat(value: object, prefix: str = "") -> dict[str, str]:
    """Nested settings under dotted names."""
    if not isinstance(value, Mapping):
        return {prefix: str(value)} if prefix else {}
    found: dict[str, str] = {}
    for key, inner in value.items():
        found |= _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    return found


def _attempts(
    read: _Reader, folder: Path, files: ReportFiles, results: EvaluationResults | None
) -> tuple[Attempt, ...]:
    episodes: dict[str, Sequence[Trajectory]] = {}
    none: tuple[Trajectory, ...] = ()
    for arm in results.arms if results is not None else ():
        path = episodes_file(folder / files.evaluation, arm.arm)
        episodes[arm.arm] = last_attempts(read(path, _trajectories, none))
    dreams = read(folder / files.dreams, _trajectories, none)
    return choose_attempts(episodes, dreams)


def _trajectories(path: Path) -> tuple[Trajectory, ...]:
    return tuple([load_as(Trajectory, line) for line in read_prefix(path).lines])
