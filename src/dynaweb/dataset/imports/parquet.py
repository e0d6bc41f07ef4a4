"""Parquet: this project's own, as `exports.parquet` writes it (rows of a trajectory stand together, in order), and others' rows."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import cast

import pyarrow.parquet as pq

from dynaweb.dataset.exports.parquet import PAGE, SCHEMA, TOLD
from dynaweb.dataset.imports.rows import Row
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import StorageError
from dynaweb.records.codec import distinct
from dynaweb.records.fieldcodec import codec_for
from dynaweb.records.trajectory import Trajectory

NEEDED = ("trajectory_id", "row", "part", "tree")
BATCH = 64
"""Rows held at once."""


def read_parquet(path: Path, tally: Tally) -> Iterator[Trajectory]:
    """The trajectories of a file; columns it lacks hold their default, columns we don't know are counted.

    Raises:
        StorageError: no Parquet file, or not one of ours.
    """
    with _opened(path) as file:
        names = set(file.schema_arrow.names)
        if missing := [n for n in NEEDED if n not in names]:
            raise StorageError(f"{path}: has no column {missing[0]!r}, so it is not one of ours")
        for name in sorted(names - set(SCHEMA.names)):
            tally.note(f"column {name!r} is not read", path.name)
        rows = (row for batch in file.iter_batches(BATCH) for row in batch.to_pylist())
        for name, group in groupby(rows, key=lambda row: row["trajectory_id"]):
            held = list(group)
            tally.rows += len(held)
            try:
                made = codec_for(Trajectory).decode(_fields(held), f"{path.name} {name!r}")
            except (StorageError, ValueError) as error:
                tally.drop("rows are no trajectory of ours", str(error), len(held))
                continue
            assert isinstance(made, Trajectory)
            yield made


def columns_of(path: Path) -> frozenset[str]:
    """The names of its columns.

    Raises:
        StorageError: no Parquet file.
    """
    with _opened(path) as file:
        return frozenset(file.schema_arrow.names)


def rows_of(path: Path, columns: Sequence[str], tally: Tally) -> Iterator[Row]:
    """The rows of another tool's file, of some columns; those that it lacks are left out.

    Raises:
        StorageError: it cannot be read.
    """
    with _opened(path) as file:
        held = [name for name in file.schema_arrow.names if name in columns]
        number = 0
        for batch in file.iter_batches(BATCH, columns=held):
            for fields in batch.to_pylist():
                tally.rows += 1
                yield Row(where=f"{path.name} row {number}", fields=fields)
                number += 1


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (OSError, pq.lib.ArrowException) as error:
        raise StorageError(f"cannot read {path}: {error}") from error


def _fields(rows: list[dict[str, object]]) -> dict[str, object]:
    first = rows[0]
    made: dict[str, object] = {k: first.get(k) or "" for k in TOLD}
    made |= {"trajectory_id": first["trajectory_id"], "seed": first.get("seed") or 0}
    made |= {"raw_reward": first.get("raw_reward")}
    made["past"] = [_step(row) for row in rows if row["part"] == "past"]
    made["steps"] = [_step(row) for row in rows if row["part"] == "step"]
    final = [_page(row) for row in rows if row["part"] == "final"]
    return made | ({"final": final[0]} if final else {})


def _page(row: dict[str, object]) -> dict[str, object]:
    texts = {k: row.get(k) for k in PAGE if row.get(k) is not None}
    made = {"url": "", "title": "", **texts}
    rest = _cell(str(row["page_rest"])) if row.get("page_rest") else {}
    return made | (rest if isinstance(rest, dict) else {})


def _step(row: dict[str, object]) -> dict[str, object]:
    made: dict[str, object] = {"observation": _page(row), "thought": row.get("thought") or ""}
    action = row.get("action")
    if isinstance(action, str):
        made["action"] = _cell(action) if action.startswith("{") else action
    if row.get("fault"):
        made["fault"] = row["fault"]
    if row.get("generations"):
        made["generations"] = _cell(str(row["generations"]))
    return made


def _cell(text: str) -> object:
    """A cell of JSON."""
    return cast(object, json.loads(text, object_pairs_hook=distinct))
