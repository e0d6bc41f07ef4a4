"""`dynaweb inspect` on JSON that no importer knows: its rows, their fields and types, and what is damaged."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from dynaweb.cli.reading import watched
from dynaweb.dataset.imports.rows import Row, as_row, read_document, read_rows
from dynaweb.dataset.imports.source import first_bytes
from dynaweb.dataset.imports.tally import Tally, told
from dynaweb.errors import StorageError
from dynaweb.runs.progress import Progress, silent

TYPES = {dict: "object", list: "list", str: "text", bool: "boolean", int: "number", float: "number", type(None): "null"}  # fmt: skip
"""JSON's names."""


def rows_facts(path: Path, why: str, progress: Progress = silent) -> dict[str, object]:
    """What there is to say about rows, ready for JSON; damaged lines are passed over and counted.

    Args:
        path: the file.
        why: why no importer reads it; empty when that was not asked.
        progress: stage `read`.
    """
    tally = Tally()
    seen: defaultdict[tuple[str, type], int] = defaultdict(int)
    rows = 0
    for row in watched(_objects(path, tally), path, tally, progress):
        rows += 1
        for key, value in row.fields.items():
            seen[key, type(value)] += 1
    return {
        "kind": "rows",
        "objects": rows,
        "why": why,
        "fields": _fields(seen),
        "odd": tally.noted,
        "left_out": tally.dropped,
        "first": tally.first,
    }


def _fields(seen: Mapping[tuple[str, type], int]) -> dict[str, dict[str, int]]:
    """Field -> name of a type -> rows."""
    fields: dict[str, defaultdict[str, int]] = {}
    for (key, kind), count in seen.items():
        fields.setdefault(key, defaultdict(int))[TYPES.get(kind, "text")] += count
    return {key: dict(types) for key, types in fields.items()}


def _objects(path: Path, tally: Tally) -> Iterator[Row]:
    """Of one document over several lines, which is one object, or of lines."""
    first = first_bytes(path, 16).split(b"\n")[0]
    if first.strip() == b"{":
        try:
            row = as_row(read_document(path, tally), path.name, tally)
        except StorageError:
            row = None  # lines, the first of them damaged
        if row is not None:
            yield row
            return
    yield from read_rows(path, tally, skip_damaged=True)


def rows_summary(facts: dict[str, object]) -> list[str]:
    """The same for people, a line each."""
    rows = facts["objects"]
    said = [f"rows      {rows} JSON objects of no format that `dynaweb import` knows"]
    fields = facts["fields"]
    assert isinstance(fields, dict)
    for key, types in fields.items():
        held = ", ".join(f"{name} in {count}" for name, count in types.items())
        said.append(
            f"field     {key}: {held}" + (" (odd: several types)" if len(types) > 1 else "")
        )
    first = facts["first"]
    for word in ("odd", "left_out"):
        counts = facts[word]
        assert isinstance(counts, dict) and isinstance(first, dict)
        said += [f"{word.replace('_', ' '):<9} {line.strip()}" for line in told(counts, first)]
    return [*said, *([f"why       {facts['why']}"] if facts["why"] else [])]
