"""Parquet: one row for each page, flat columns that any tool reads, and nothing lost.

Needs pyarrow (the extra `data`): the library that the Hub and pandas read Parquet with. `part` says whether a row is a step of the
attempt, a step before its start, or the page it ended on; `next_url` and `next_tree` repeat the following page, so that a row is
a transition by itself. What has no column of its own stands as JSON in `page_rest` and `generations`.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dynaweb.dataset.exports.fields import encoded
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.surrogates import clean_json
from dynaweb.errors import UserError
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step, Trajectory

TOLD = ("task", "goal", "outcome", "reason", "detail", "world", "behaviour", "policy_version", "world_model_version", "license", "origin")  # fmt: skip
"""Fields of a trajectory that are text columns, the same in all its rows."""
PAGE = ("url", "title", "tree", "focused", "last_action_error")
"""Fields of a page that are text columns."""

_TEXTS = (*TOLD, "part", *PAGE, "page_rest", "thought", "action", "fault", "generations", "next_url", "next_tree")  # fmt: skip
SCHEMA = pa.schema(
    [
        ("trajectory_id", pa.string()),
        ("row", pa.int32()),
        ("seed", pa.int64()),
        ("raw_reward", pa.float64()),
        *((name, pa.string()) for name in _TEXTS),
    ]
)
LAYOUT = """One row for each page, in `train.parquet`: a step of the attempt, a step before its start (`part` past) or the page it ended on
(`part` final); `next_url` and `next_tree` are the following page's. `dynaweb import` gives the trajectories back."""
"""For the data card."""

BATCH = 200
"""Rows written together: about 4 MB of pages."""


def write_parquet(path: Path, trajectories: Iterable[Trajectory], tally: Tally) -> None:
    """Write a file; it is there once it is whole.

    Raises:
        OSError: the folder cannot be written.
    """
    aside = path.with_name(f".{path.name}.part")
    rows = (row for t in trajectories for row in _rows(t, tally))
    with pq.ParquetWriter(aside, SCHEMA, compression="zstd") as writer:
        while batch := list(islice(rows, BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema=SCHEMA))
    aside.replace(path)


def _rows(trajectory: Trajectory, tally: Tally) -> Iterator[dict[str, object]]:
    if not -(2**63) <= trajectory.seed < 2**63:
        raise UserError(
            f"seed {str(trajectory.seed)[:40]} of {trajectory.trajectory_id[:80]!r} does not fit Parquet's 64 bits"
        )
    told = encoded(replace(trajectory, steps=(), past=(), final=None))
    shared = {
        "trajectory_id": trajectory.trajectory_id,
        "seed": trajectory.seed,
        "raw_reward": trajectory.raw_reward,
        **{name: told.get(name, "") for name in TOLD},
    }
    parts: list[tuple[str, Step | Observation]] = [("past", s) for s in trajectory.past]
    parts += [("step", s) for s in trajectory.steps]
    parts += [("final", trajectory.final)] if trajectory.final is not None else []
    pages = [p.observation if isinstance(p, Step) else p for _, p in parts]
    for number, ((part, held), after) in enumerate(zip(parts, [*pages[1:], None], strict=True)):
        row = {**shared, "row": number, "part": part, **_page(pages[number])}
        if isinstance(held, Step):
            row |= _step(held)
        if after is not None:
            row |= {"next_url": after.url, "next_tree": after.tree}
        cleaned, lone = clean_json(row)
        tally.note("half a surrogate pair became U+FFFD", trajectory.trajectory_id[:80], lone)
        assert isinstance(cleaned, dict)
        yield cleaned


def _page(page: Observation) -> dict[str, object]:
    made = encoded(page)
    rest = {k: v for k, v in made.items() if k not in PAGE}
    return {**{k: made.get(k) for k in PAGE}, "page_rest": json.dumps(rest) if rest else None}


def _step(step: Step) -> dict[str, object]:
    made = encoded(step)
    action = made.get("action")
    return {
        "thought": step.thought,
        "action": action if isinstance(action, str | None) else json.dumps(action),
        "fault": step.fault,
        "generations": json.dumps(made["generations"]) if step.generations else None,
    }
