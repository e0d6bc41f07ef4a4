"""This project's own trajectories, from JSON lines: any file that `collect`, a run or an import wrote."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dynaweb.dataset.imports.recorded import Provenance, ending, stopping
from dynaweb.dataset.imports.rows import count_rest
from dynaweb.dataset.imports.source import Damaged, parsed, raw_lines
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import StorageError
from dynaweb.records.codec import load
from dynaweb.records.trajectory import (
    Behaviour,
    Outcome,
    Step,
    Trajectory,
    Transition,
    World,
)


def read_own(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The trajectories of a JSON lines file, exactly, and its transitions, each as an attempt of one step.

    A licence or origin that they lack is taken from `known`.
    """
    lines = raw_lines(path, tally)
    for number, raw in enumerate(lines, start=1):
        where = f"{path.name}:{number}"
        if not raw.strip():
            continue
        try:
            record = load(raw.decode("utf-8-sig"))
            if not isinstance(record, Trajectory | Transition):
                raise StorageError(f"expected a Trajectory, found a {type(record).__name__}")
        except (StorageError, UnicodeDecodeError) as error:
            value = parsed(raw)
            if not isinstance(value, Damaged):
                tally.rows += 1
                tally.drop("record is not a trajectory of ours", f"{where}: {error}")
                continue
            tally.drop(f"line {value.why}", f"{where}: {raw[:60]!r}")
            if skip_damaged:
                continue
            count_rest(lines, f"{path.name}:{number + 1}", tally)
            return
        tally.rows += 1
        found = record if isinstance(record, Trajectory) else _attempt(record, where)
        yield replace(
            found, license=found.license or known.license, origin=found.origin or known.origin
        )


def _attempt(t: Transition, where: str) -> Trajectory:
    """A transition does not say which world it is of: taken for a dream, so that it never counts as a result."""
    return Trajectory(
        trajectory_id=f"transition@{where}",
        task="transition",
        goal="",
        seed=0,
        steps=(Step(observation=t.observation, action=t.action, fault=t.fault),),
        final=t.next_observation,
        outcome=Outcome.UNKNOWN,
        reason=ending(t.action) if t.terminal else stopping(t.action),
        world=World.DREAM,
        behaviour=Behaviour.AGENT,
    )
