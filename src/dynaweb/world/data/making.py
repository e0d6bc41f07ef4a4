"""One run of `world data`: what was met, what is written, what is left to write."""

import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path

from dynaweb.contracts import ChatModel
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.progress import Progress
from dynaweb.world.data.admit import TRAIN, Admission, Admitted, Kept
from dynaweb.world.data.annotate import Annotator, Case, Explained, case_of
from dynaweb.world.data.counts import Counts
from dynaweb.world.data.extra import (
    can_think,
    cot_row,
    made_rejections,
    recorded_rejections,
    shortened,
)
from dynaweb.world.data.foreign import foreign_rows
from dynaweb.world.data.forms import TOO_LONG, CountTokens, Source, fits, source_of
from dynaweb.world.data.keys import Sketcher
from dynaweb.world.data.row import Row
from dynaweb.world.data.shard import Files, Work, Writer
from dynaweb.world.data.wish import DataWish

STAGE_NAME = "training data"
THOUGHTS, FOREIGN = 99999, 99998
"""Numbers of the shards that are written once: chain of thought, and the user's own rows."""


class Making:
    """One run: what was met, what was written, what is left to write."""

    def __init__(
        self,
        wish: DataWish,
        folder: Path,
        model: ChatModel | None,
        count: CountTokens,
        progress: Progress,
    ) -> None:
        self.counts, self.read, self.resumed = Counts(), Tally(), False
        self._wish, self._config, self._progress, self._count = wish, wish.config, progress, count
        self._admission = Admission(wish.config, Sketcher() if wish.sketches else None)
        self._annotator = Annotator(wish.config, model)
        self._writer = Writer(
            folder=folder,
            config=wish.config,
            annotator=self._annotator,
            count=count,
            exact=bool(wish.tokenizer),
        )
        self._thinking: list[tuple[int, int, Kept, Source]] = []
        """The transitions of the lowest hashes: a heap of (-hash, number, transition, source)."""
        self._offered = 0

    def shards(self, attempts: Iterator[Trajectory]) -> None:
        """Make every shard that is not there yet."""
        number, seen, works = 0, 0, list[Work]()
        for trajectory in attempts:
            works.append(self._work(trajectory))
            seen += 1
            self._progress(STAGE_NAME, seen, None, f"{self.counts.total('rows')} rows")
            if len(works) == self._config.trajectories_per_shard:
                self._shard(number, works)
                number, works = number + 1, []
        if works:
            self._shard(number, works)
        self._progress(STAGE_NAME, seen, seen, f"{self.counts.total('rows')} rows")

    def _work(self, trajectory: Trajectory) -> Work:
        """Let an attempt in; done again for shards that are whole, since later ones hang on what was met."""
        admitted = self._admission.admit(trajectory)
        source = source_of(admitted)
        rows = [*recorded_rejections(source, admitted, self._config)]
        rows += made_rejections(source, admitted, self._config)
        refusals = tuple(row for row in rows if self._admission.claim(row.keys, row.side))
        self._think(admitted, source)
        return Work(admitted=admitted, refusals=refusals)

    def _shard(self, number: int, works: Sequence[Work]) -> None:
        done = self._writer.done(number)
        if done is not None:
            self.resumed = True
            self._noted(Counts())
            self.counts.merge(done)
            return
        counts = Counts()
        for work in works:
            admitted = work.admitted
            counts.add("attempts", admitted.side)
            counts.add("attempts by site", admitted.site)
            counts.add("attempts by behaviour", admitted.trajectory.behaviour.value)
            counts.add("steps", admitted.side, admitted.steps)
            counts.add("kept", admitted.side, len(admitted.kept))
            for reason, n in admitted.dropped.items():
                counts.add("dropped", reason, n)
        self._writer.write(number, works, self._noted(counts))
        self.counts.merge(counts)

    def _noted(self, counts: Counts) -> Counts:
        for reason, n in self._admission.noted.items():
            counts.add("noted", reason, n)
        for kind, n in self._admission.masked.items():
            counts.add("masked", kind, n)
        self._admission.noted.clear()
        self._admission.masked.clear()
        return counts

    def _think(self, admitted: Admitted, source: Source) -> None:
        if admitted.side != TRAIN or not self._config.cot.rows:
            return
        for held in admitted.kept:
            if can_think(held):
                rank = derive_seed(self._config.seed, "cot", source.trajectory, held.known.index)
                self._offered += 1
                entry = (-rank, self._offered, shortened(held, self._config), source)
                heapq.heappush(self._thinking, entry)
                if len(self._thinking) > self._config.cot.rows:
                    heapq.heappop(self._thinking)

    def thoughts(self) -> None:
        """The rows of the second stage."""
        if not self._config.cot.rows:
            return
        self._once(THOUGHTS, list(self._thoughts(counts := Counts())), counts)

    def _thoughts(self, counts: Counts) -> Iterator[Row]:
        chosen = sorted(self._thinking, key=lambda entry: -entry[0])
        asked: list[tuple[Source, Kept, Case]] = []
        for _, _, held, source in chosen:
            case = case_of(held.known)
            if isinstance(case, Case):
                asked.append((source, held, case))
            else:
                counts.add("other rows: dropped", f"cot: {case}")
        if self._writer.done(THOUGHTS) is not None:
            return
        explained = self._annotator.explain([case for _, _, case in asked])
        for (source, held, _), made in zip(asked, explained, strict=True):
            row = cot_row(source, held, made, self._config) if isinstance(made, Explained) else None
            if row is not None and fits(row, self._config.full.max_tokens, self._count):
                yield row
            else:
                counts.add("other rows: dropped", f"cot: {TOO_LONG if row is not None else made}")

    def users_own(self) -> None:
        """Rows from the user's own files of text."""
        if self._wish.foreign and self._writer.done(FOREIGN) is None:
            counts = Counts()
            rows = foreign_rows(self._wish.foreign, self.read, counts)
            self._once(FOREIGN, rows, counts)
        elif self._wish.foreign:
            self._once(FOREIGN, [], Counts())

    def _once(self, number: int, rows: Sequence[Row] | Iterator[Row], counts: Counts) -> None:
        done = self._writer.done(number)
        if done is None:
            with Files(self._writer.folder, number) as files:
                for row in rows:
                    self._writer.put(files, row, counts)
            self._writer.mark(number, counts)
            done = counts
        self.counts.merge(done)
