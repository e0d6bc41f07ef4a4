"""Training in dreams that is killed again and again: does it end as if it had been left alone?

A recipe is run up to its dreams once. Then its training in dreams is done anew in copies of that folder by a
process of its own, the way a user would: killed with SIGKILL at random moments, run again by the same command
until it is done, and compared hash by hash. The first copy is left alone: two runs nobody disturbed must be equal
too, and it says how long a life may be.

    whole/         the recipe, up to its dreams
    round-000/     the copy that is left alone; round-001/ and on: those that are killed
    rounds.jsonl   what came of them; a round that is in it is not made again
"""

import hashlib
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from dynaweb.errors import StorageError, TrainingError
from dynaweb.gspo.digest import digest_of
from dynaweb.gspo.progress import METRICS
from dynaweb.gspo.state import CHECKPOINTS
from dynaweb.records.seeds import derive_seed
from dynaweb.runs.jsonfile import decode
from dynaweb.runs.jsonl import JsonlWriter, read_prefix
from dynaweb.runs.progress import Progress

STAGE = "gspo"
ROUNDS = "rounds.jsonl"
MODEL = "model.safetensors"
POLL_SEC = 0.05
"""Between two looks at a child."""

Command = Callable[[Path], Sequence[str]]
"""Folder of a run -> the command that trains there, or goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One SIGKILL."""

    after_sec: float
    """Since the process had opened the run folder; wall clock."""
    iterations: int
    """Rows of metrics on disk at that moment."""
    writing: bool
    """It hit a checkpoint or a row half-way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One training from its beginning to its end."""

    number: int
    kills: tuple[Kill, ...]
    equal: tuple[str, ...]
    """Pieces that equal those of the run that was left alone (`gspo.digest`, and the stage's own model)."""
    different: tuple[str, ...]
    """Pieces that do not."""
    seconds: float
    """Wall clock, all lives together."""
    last_life_sec: float
    """Wall clock of the life that ended by itself, since it had opened the run folder."""


def sweep(
    out: Path, command: Command, *, kills: int, seed: int, progress: Progress
) -> tuple[Round, ...]:
    """Train until so many kills have been survived.

    Args:
        out: folder of its own; called again it goes on with the next round.
        command: see `Command`.
        kills: SIGKILLs in all.
        seed: of the moments.
        progress: told after each kill.

    Raises:
        TrainingError: a child ended by itself and in error; its last line is in the message.
        StorageError: `out` cannot be written.
    """
    whole = out / "whole"
    progress("kills", 0, kills, "a run that is left alone")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot write {out}: {error.strerror}") from error
    with _child(command(whole)) as first:
        _, said = first.communicate()
    if first.returncode != 0:
        raise _ended_badly(first.returncode, said)
    wanted = pieces(whole / STAGE)
    done = [decode(Round, json.loads(line), ROUNDS) for line in read_prefix(out / ROUNDS).lines]
    while not done or sum(len(r.kills) for r in done) < kills:
        number, before = len(done), sum(len(r.kills) for r in done)
        copy = out / f"round-{number:03d}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(whole, copy, ignore=shutil.ignore_patterns("lock"))
        shutil.rmtree(copy / STAGE)
        begun = time.monotonic()
        lives = Random(derive_seed(seed, "kill", number))
        longest = done[0].last_life_sec if done else None
        survived: list[Kill] = []
        while longest is not None and before + len(survived) < kills:
            killed, lived = _life(command(copy), copy, lives.uniform(0.0, longest))
            if killed is None:
                break
            survived.append(killed)
            progress("kills", before + len(survived), kills, f"round {number}")
        else:
            _, lived = _life(command(copy), copy, None)
        found = pieces(copy / STAGE)
        done.append(
            Round(
                number=number,
                kills=tuple(survived),
                equal=tuple(k for k in wanted if found[k] == wanted[k]),
                different=tuple(k for k in wanted if found[k] != wanted[k]),
                seconds=round(time.monotonic() - begun, 3),
                last_life_sec=round(lived, 3),
            )
        )
        with JsonlWriter(out / ROUNDS) as file:
            file.append(json.dumps(asdict(done[-1])))
    return tuple(done)


def pieces(stage: Path) -> dict[str, str]:
    """Hashes of a finished training in dreams: where it stands, and the model it leaves."""
    return digest_of(stage) | {"model": hashlib.sha256((stage / MODEL).read_bytes()).hexdigest()}


@contextmanager
def _child(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive the block, however it is left."""
    child = subprocess.Popen(
        list(command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        yield child
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def _life(command: Sequence[str], run: Path, patience: float | None) -> tuple[Kill | None, float]:
    """One life: it is killed so many seconds after it opened its folder, unless it ended by itself before.

    Returns:
        The kill, and the seconds that it lived after it had opened its folder.
    """
    sessions = run / "sessions.jsonl"
    before = len(read_prefix(sessions).lines)
    with _child(command) as child:
        while child.poll() is None and len(read_prefix(sessions).lines) == before:
            time.sleep(POLL_SEC)
        opened = time.monotonic()
        try:
            _, said = child.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            child.kill()
            _, said = child.communicate()
        lived = time.monotonic() - opened
    if child.returncode == 0:
        return None, lived
    if child.returncode > 0:
        raise _ended_badly(child.returncode, said)
    rows = read_prefix(run / STAGE / METRICS)
    kill = Kill(
        after_sec=round(lived, 3),
        iterations=len(rows.lines),
        writing=rows.torn or any((run / STAGE / CHECKPOINTS).glob(".*-????????")),
    )
    return kill, lived


def _ended_badly(code: int, said: str) -> TrainingError:
    last = said.strip().splitlines()[-1:] or ["nothing"]
    return TrainingError(
        f"a run that was to be killed ended by itself with exit code {code} and said: {last[0][:500]}"
    )
