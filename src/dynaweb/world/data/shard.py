"""Shards: a few attempts at a time into files that stand whole or not at all, then a mark with their counts.

In the folder:

    <side>/<form>/00000.jsonl   rows
    index/00000.jsonl           one line for each transition that was let in
    marks/00000.json            written last: the shard is done
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from dynaweb.records.action import action_name
from dynaweb.records.packing import pack_ints
from dynaweb.runs.atomic import read_json, write_json, writing
from dynaweb.world.data.admit import Admitted, Kept, group_name
from dynaweb.world.data.annotate import Annotator, Case, Explained, case_of
from dynaweb.world.data.counts import Counts, folder_of, read_counts
from dynaweb.world.data.extra import described, generated, other_view
from dynaweb.world.data.forms import (
    TOO_LONG,
    CountTokens,
    Source,
    condensed_row,
    nl_gated_row,
    nl_row,
    patch_row,
    source_of,
)
from dynaweb.world.data.keys import action_key, address
from dynaweb.world.data.row import Row, RowKind, dump_row
from dynaweb.world.data.settings import DataConfig, RowForm
from dynaweb.world.data.windows import full_rows

INDEX, MARKS = "index", "marks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """An attempt that was let in, and the rejections that may be taught on its side."""

    admitted: Admitted
    refusals: tuple[Row, ...]


@dataclass(slots=True, kw_only=True)
class Writer:
    """Makes and writes the rows of shards."""

    folder: Path
    config: DataConfig
    annotator: Annotator
    count: CountTokens
    exact: bool
    """`count` is a tokenizer's, so that lengths in tokens are worth telling."""

    def done(self, number: int) -> Counts | None:
        """The counts of a shard that is whole; None when it has to be made."""
        mark = read_json(self.folder / MARKS / f"{number:05}.json")
        return None if mark is None else read_counts(mark)

    def write(self, number: int, works: Sequence[Work], counts: Counts) -> None:
        """Make a shard; `counts` holds what became of its steps, and gets what became of its rows."""
        with Files(self.folder, number) as files:
            for row in self._rows(works, counts):
                self.put(files, row, counts)
            for work in works:
                for held in work.admitted.kept:
                    line = index_line(held, work.admitted, self.config)
                    files.at(INDEX).write(json.dumps(line) + "\n")
        self.mark(number, counts)

    def mark(self, number: int, counts: Counts) -> None:
        """Say that a shard is whole, with what became of its annotations."""
        for name, n in self.annotator.counts.items():
            counts.add("annotations", name, n)
        self.annotator.counts.clear()
        counts.check(tuple(f.value for f in self.config.forms))
        (self.folder / MARKS).mkdir(exist_ok=True)
        write_json(self.folder / MARKS / f"{number:05}.json", counts.plain())

    def put(self, files: "Files", row: Row, counts: Counts) -> None:
        """Write a row, or count why not."""
        line, lone = dump_row(row)
        counts.add("noted", "half a surrogate pair became U+FFFD", lone)
        counts.rows(row, self._tokens(row) if self.exact else None)
        files.at(f"{row.side}/{folder_of(row)}").write(line + "\n")

    def _tokens(self, row: Row) -> int:
        return sum(self.count(m.content) for m in row.messages)

    def _rows(self, works: Sequence[Work], counts: Counts) -> Iterable[Row]:
        for work in works:
            source = source_of(work.admitted)
            for held in work.admitted.kept:
                yield from self._single(source, held, counts)
            yield from self._full(source, work.admitted, counts)
            yield from self._short(work.refusals, counts)
            yield from self._short(described(source, work.admitted, self.config), counts)
            yield from self._short(generated(source, work.admitted, self.config), counts)
        if RowForm.NL in self.config.forms:
            yield from self._nl(works, counts)

    def _single(self, source: Source, held: Kept, counts: Counts) -> Iterable[Row]:
        forms = self.config.forms
        if RowForm.PATCH in forms:
            yield from _counted(RowForm.PATCH, patch_row(source, held, self.config), counts)
        if RowForm.CONDENSED in forms:
            made = condensed_row(source, held, self.config, self.count)
            yield from _counted(RowForm.CONDENSED, made, counts)

    def _full(self, source: Source, admitted: Admitted, counts: Counts) -> Iterable[Row]:
        if RowForm.FULL not in self.config.forms:
            return
        rows, dropped = full_rows(
            source, admitted, self.config.full, self.count, view=self.config.full.view
        )
        for reason, count in dropped.items():
            counts.add(f"{RowForm.FULL.value}: dropped", reason, count)
        for row in rows:
            counts.add(f"{RowForm.FULL.value}: taught", row.kind.value, len(row.keys))
            yield row
        view = other_view(self.config, source.trajectory)
        if view is not None:
            rows, dropped = full_rows(
                source, admitted, self.config.full, self.count, view=view, kind=RowKind.MULTI_FORMAT
            )
            for reason, count in dropped.items():
                counts.add("other rows: dropped", f"multi_format: {reason}", count)
            yield from rows

    def _short(self, rows: Iterable[Row], counts: Counts) -> Iterable[Row]:
        for row in rows:
            if self._tokens(row) > self.config.full.max_tokens:
                counts.add("other rows: dropped", f"{row.kind.value}: {TOO_LONG}")
            else:
                yield row

    def _nl(self, works: Sequence[Work], counts: Counts) -> Iterable[Row]:
        """All transitions of the shard at once: a model is asked about them side by side."""
        asked: list[tuple[Source, Kept, Case]] = []
        for work in works:
            source = source_of(work.admitted)
            for held in work.admitted.kept:
                case = case_of(held.known)
                if isinstance(case, Case):
                    asked.append((source, held, case))
                else:
                    yield from _counted(RowForm.NL, nl_gated_row(source, held.known), counts)
        made = self.annotator.explain([case for _, _, case in asked])
        for (source, held, case), found in zip(asked, made, strict=True):
            row: Row | str = found if isinstance(found, str) else ""
            if isinstance(found, Explained):
                row = nl_row(source, held, case, found, self.config, self.count)
            yield from _counted(RowForm.NL, row, counts)


def _counted(form: RowForm, made: Row | str, counts: Counts) -> Iterable[Row]:
    if isinstance(made, str):
        counts.add(f"{form.value}: dropped", made)
        return ()
    counts.add(f"{form.value}: taught", made.kind.value, len(made.keys))
    return (made,)


class Files:
    """The files of one shard; they get their names when the block has ended well."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._name = folder, f"{number:05}.jsonl"
        self._open: dict[str, TextIO] = {}
        self._stack = ExitStack()

    def at(self, place: str) -> TextIO:
        """The shard's file in a folder."""
        if place not in self._open:
            path = self._folder / place / self._name
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open[place] = self._stack.enter_context(writing(path))
        return self._open[place]

    def __enter__(self) -> "Files":
        # what a killed process left, which this one may not write again
        for left in (
            *self._folder.glob(f"*/{self._name}"),
            *self._folder.glob(f"*/*/{self._name}"),
        ):
            left.unlink()
        self._stack.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.__exit__(*raised)  # type: ignore[arg-type]  # as they came


def index_line(held: Kept, admitted: Admitted, config: DataConfig) -> dict[str, object]:
    """What the index says of a transition: enough for the card and for comparing data sets."""
    known, sketch = held.known, held.sketch
    page = known.history[-1]
    return {
        "key": held.key,
        "side": admitted.side,
        "group": group_name(admitted.trajectory, config.split.by),
        "task": known.task,
        "site": admitted.site,
        "name": f"{known.trajectory_id} step {known.index}",
        "url": address(page),
        "action": action_name(type(known.action)),
        "about": action_key(page, known.action),
        "unchanged": held.unchanged,
        "rejection": held.rejection,
        "sketch": None if sketch is None else [pack_ints(sketch.page), pack_ints(sketch.next_page)],
    }
