"""World models measured: files read, models opened, the report told."""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dynaweb.bench.worlds.answers import Measured
from dynaweb.bench.worlds.cases import find_cases, sample_cases
from dynaweb.browser.config import BrowserConfig
from dynaweb.cli.drawing import drawing
from dynaweb.cli.endpoints import chat_opener
from dynaweb.cli.names import known_task
from dynaweb.cli.saying import say
from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.run import read_trajectories
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.split import split_by_task
from dynaweb.errors import UserError
from dynaweb.recipes.worldeval import PAGE, Bench, EvalConfig, evaluate_worlds
from dynaweb.recipes.worldreplay import ReplayWish
from dynaweb.recipes.worldspecs import COPY, open_world
from dynaweb.records.codec import dump
from dynaweb.records.trajectory import Trajectory
from dynaweb.report.words import MINUS, THIN
from dynaweb.report.worlds.data import WorldsReport
from dynaweb.report.worlds.sayings import LABELS, gain_words, mean_words
from dynaweb.runs.folder import RunFolder
from dynaweb.runs.progress import Progress
from dynaweb.world.opening import OpenChat, read_chat_spec
from dynaweb.world.trained import KeptBack, kept_back


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What `dynaweb world eval` was asked for."""

    files: tuple[Path, ...]
    out: Path
    models: tuple[str, ...]
    train: tuple[Path, ...]
    hold_out: float
    limit: int | None
    seed: int
    probes: int
    judge_url: str
    """Server of a judge of replaced pages; empty asks none."""
    judge_model: str
    key_variable: str
    """Environment variable with the key of every server asked; empty sends none."""
    replay: tuple[str, ...]
    replay_pages: int
    threads: int
    browser: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """What the folder's numbers come from; another of it is another measurement."""

    config: EvalConfig
    hold_out: float
    measured: str
    """Checksum of the drawn transitions."""
    known: str
    """Checksum of the training attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    measured: Sequence[Trajectory]
    known: Sequence[Trajectory]
    dropped: dict[str, int]


def measure(wish: Wish, *, quiet: bool, as_json: bool) -> None:
    """Measure, and say what came of it.

    Raises:
        UserError: files, models or flags that do not fit together. StorageError: a file is damaged.
        SamplerError: a model or the judge cannot be asked.
    """
    config = EvalConfig(limit=wish.limit, seed=wish.seed, probed=wish.probes)
    _check(wish)
    replays = _replays(wish)
    with ExitStack() as stack:
        progress = stack.enter_context(drawing(quiet=quiet))
        read = _read(wish, progress)
        found, left_out = find_cases(read.measured)
        if not found:
            raise UserError(
                f"no transition to measure in {', '.join(repr(str(f)) for f in wish.files)}: a real attempt's page, action and next page"
            )
        cases = sample_cases(found, wish.limit, seed=wish.seed)
        chat = chat_opener(wish.key_variable, stack)
        _check_held_out(wish)
        models = _models(wish, read.known, chat)
        data = _Data(
            config=config,
            hold_out=wish.hold_out,
            measured=_digest([c.checksum() for c in cases]),
            known=_digest([dump(t) for t in read.known]),
        )
        folder = RunFolder(wish.out, config=data, seed=wish.seed, argv=tuple(sys.argv))
        stack.enter_context(folder)
        bench = Bench(
            cases=cases,
            config=config,
            out=wish.out,
            judge=chat(f"{wish.judge_url}#{wish.judge_model}") if wish.judge_url else None,
            replays=replays,
            browser=BrowserConfig(executable=wish.browser),
            progress=progress,
        )
        report = evaluate_worlds(found, models, bench, read.known, {**read.dropped, **left_out})
    if as_json:
        print(json.dumps(asdict(report)))
    else:
        _tell(report, wish.out)


def _check(wish: Wish) -> None:
    """Flags that do not fit together, before anything is read."""
    if wish.train and wish.hold_out:
        raise UserError("--train and --hold-out both say what is known: use one of them")
    if bool(wish.judge_url) != bool(wish.judge_model):
        raise UserError("a judge needs --judge-url and --judge-model")
    twice = [str(f) for f in wish.files if f in wish.train]
    if twice:
        raise UserError(f"{twice[0]!r} is measured and trained on: name different files")


def _check_held_out(wish: Wish) -> None:
    """With --hold-out: no model that was trained on files has read what is measured."""
    if not wish.hold_out:
        return
    for spec in wish.models:
        asked = read_chat_spec(spec)
        folder = Path(asked.target if asked is not None else spec)
        held = kept_back(folder) if folder.is_dir() else None
        if held is not None and held != KeptBack(fraction=wish.hold_out, seed=wish.seed):
            raise UserError(
                f"{spec!r} was trained with held_out={held.fraction!r} and seed={held.seed!r}, so it has read tasks that "
                f"--hold-out {wish.hold_out!r} --seed {wish.seed!r} measures: use the same two for both"
            )


def _replays(wish: Wish) -> ReplayWish | None:
    if not wish.replay:
        return None
    tasks = tuple(dict.fromkeys(known_task(name) for name in wish.replay))
    return ReplayWish(tasks=tasks, pages=wish.replay_pages, seed=wish.seed)


def _read(wish: Wish, progress: Progress) -> _Read:
    dropped: Counter[str] = Counter()
    measured = _read_all(wish.files, dropped, progress)
    if not wish.hold_out:
        known = _read_all(wish.train, dropped, progress)
        return _Read(measured=measured, known=known, dropped=dict(dropped))
    split = split_by_task(measured, fraction=wish.hold_out, split_seed=wish.seed)
    return _Read(measured=split.held_out, known=split.train, dropped=dict(dropped))


def _read_all(files: Sequence[Path], dropped: Counter[str], progress: Progress) -> list[Trajectory]:
    found: list[Trajectory] = []
    for path in files:
        tally = Tally()
        for trajectory in read_trajectories(path, detect(path), Provenance(), tally):
            found.append(trajectory)
            progress("read", len(found), None)
        dropped.update(tally.dropped)
    return found


def _models(wish: Wish, known: Sequence[Trajectory], chat: OpenChat) -> list[Measured]:
    """The copy model first; two of one name are told apart by a number."""
    specs = list(dict.fromkeys((COPY, *wish.models)))
    models: list[Measured] = []
    for spec in specs:
        opened = open_world(spec, known, threads=wish.threads, chat=chat)
        alike = sum(m.name.partition(" (")[0] == opened.name for m in models)
        models.append(replace(opened, name=f"{opened.name} ({alike + 1})") if alike else opened)
    return models


def _digest(parts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _tell(report: WorldsReport, out: Path) -> None:
    """Every number over all steps, a line each; the rest is on the page."""
    say(
        f"{report.transitions} transitions of {report.found}, {report.tasks} task(s), {len(report.sites)} site(s): "
        + ", ".join(f"{n} {kind}" for kind, n in report.regimes.items())
    )
    for metric, label in LABELS.items():
        cells = [
            (m.name, c)
            for m in report.models
            for c in m.cells
            if (c.metric, c.group_by) == (metric, "all")
        ]
        if not cells:
            continue
        print(f"\n{label} (n = {max(c.n for _, c in cells)})")
        for name, cell in cells:
            gain = f"  gain over copy {gain_words(cell)}" if cell.gain is not None else ""
            # no-break blanks are for the page: a terminal shows them as escapes
            say(f"  {name:<24} {mean_words(cell)}{gain}".replace(THIN, " ").replace(MINUS, "-"))
    for model in report.models:
        if model.unanswered:
            say(f"\n{model.name} could not be asked {model.unanswered} time(s): run again")
        for row in model.blocked[-1:]:
            share = row.invented
            say(f"\n{model.name}: {share.hits} of {share.n} blocked actions had an effect")
    for reason, count in sorted(report.dropped.items()):
        say(f"left out: {count} {reason}")
    say(f"\n{out / PAGE}")
