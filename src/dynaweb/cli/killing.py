"""`dynaweb bench resume`: is training that is killed and run again the same, to the bit?"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from dynaweb.cli.drawing import drawing
from dynaweb.cli.endings import FAILED, OK
from dynaweb.cli.saying import say
from dynaweb.cli.train import chosen
from dynaweb.recipes.killing import Round, sweep


def measure_resume(
    out: Path,
    size: str,
    assignments: Sequence[str],
    *,
    kills: int,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> int:
    """Kill a recipe's training in dreams, print what came of it; exit code 1 when any piece differs.

    Raises:
        DynawebError: see `recipes.killing.sweep`.
    """
    chosen(
        size, ("smoke", "demo"), None, assignments
    )  # a wrong setting is said here, not by a child
    program = [sys.executable, "-m", "dynaweb.cli.main", "bench", "dreams", "--quiet"]
    more = ["--size", size, *(word for a in assignments for word in ("--set", a))]
    with drawing(quiet=quiet) as progress:
        rounds = sweep(
            out,
            lambda folder: [*program, *more, "--out", str(folder)],
            kills=kills,
            seed=seed,
            progress=progress,
        )
    say(json.dumps([asdict(r) for r in rounds], indent=1) if as_json else "\n".join(_told(rounds)))
    return OK if all(not r.different for r in rounds) else FAILED


def _told(rounds: Sequence[Round]) -> list[str]:
    kills = [k for r in rounds for k in r.kills]
    same = sum(not r.different for r in rounds)
    said = ["round  kills  at iteration            writing  seconds  pieces"]
    for r in rounds:
        at = ",".join(str(k.iterations) for k in r.kills)
        at = at or ("left alone" if r.number == 0 else "ended before its kill")
        half = sum(k.writing for k in r.kills)
        equal = "all equal" if not r.different else f"DIFFERENT: {', '.join(r.different)}"
        said.append(
            f"{r.number:>5}  {len(r.kills):>5}  {at:<22}  {half:>7}  {r.seconds:>7.0f}  {equal}"
        )
    pieces = ", ".join((*rounds[0].equal, *rounds[0].different))
    said.append(
        f"{len(kills)} kills by SIGKILL in {len(rounds)} trainings, {sum(k.writing for k in kills)} of them half-way through a file; "
        f"{same} of {len(rounds)} ended as the one that was left alone ({pieces})"
    )
    return said
