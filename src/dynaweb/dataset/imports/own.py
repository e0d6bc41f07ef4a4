"""This project's own trajectories, from JSON lines: any file that `collect`, a run or an import wrote."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.rows import Damaged, count_rest, parsed, raw_lines
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import StorageError
from dynaweb.records.codec import load_as
from dynaweb.records.trajectory import Trajectory


def read_own(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The trajectories of a JSON lines file, exactly; a licence or origin they lack is taken from `known`."""
    lines = raw_lines(path, tally)
    for number, raw in enumerate(lines, start=1):
        where = f"{path.name}:{number}"
        if not raw.strip():
            continue
        try:
            found = load_as(Trajectory, raw.decode("utf-8"))
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
        yield replace(
            found, license=found.license or known.license, origin=found.origin or known.origin
        )
