"""A data set as TRL and LlamaFactory read it: files streamed from the shards, nothing of ours in them but the words."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dynaweb.contracts import ChatMessage
from dynaweb.dataset.exports.chat import dataset_info, turns_row
from dynaweb.dataset.exports.formats import ExportFormat
from dynaweb.dataset.exports.run import write_rows
from dynaweb.dataset.imports.rows import Row, read_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import StorageError, UserError
from dynaweb.runs.atomic import write_json, write_text
from dynaweb.world.data.admit import SIDES, TRAIN
from dynaweb.world.data.counts import Counts
from dynaweb.world.data.recipes import (
    CUTOFF,
    DEEPSPEED,
    STAGE1,
    STAGE2,
    ZERO2,
    llamafactory_yaml,
    stage_one,
    stage_two,
)
from dynaweb.world.data.row import messages_of

LLAMAFACTORY, TRL = "llamafactory", "trl"
COT = "cot"
ALL_TURNS = frozenset({"full", "text", "chat"})
"""Rows whose every answer is learnt: TRL reads them as `messages`, with `assistant_only_loss`; the others' last answer is a `completion`."""


def export_rows(folder: Path, out: Path, license: str, counts: Counts, *, exact: bool) -> Tally:
    """Write `out/trl` and `out/llamafactory` anew from the rows in `folder`.

    Args:
        folder: the data set's rows.
        out: the data set.
        license: of pages that name none; empty when it is not known.
        counts: of the data set.
        exact: lengths in tokens are a tokenizer's.

    Raises:
        UserError: the licence of a row is unknown. StorageError: a shard is damaged, or a file cannot be written.
    """
    tally = Tally()
    sets: dict[str, str] = {}
    for name in (TRL, LLAMAFACTORY):
        (out / name).mkdir(exist_ok=True)
    for side in SIDES:
        for place in sorted(p for p in (folder / side).glob("*") if p.is_dir()):
            name = f"{side}-{place.name}"
            rows = _rows(place, license, tally)
            kind = ExportFormat.TRL_MESSAGES if place.name in ALL_TURNS else ExportFormat.TRL_PROMPT
            write_rows(out / TRL / f"{name}.jsonl", _told(rows, kind), tally)
            rows = _rows(place, license, Tally())
            made = _told(rows, ExportFormat.SHAREGPT)
            write_rows(out / LLAMAFACTORY / f"{name}.jsonl", made, Tally())
            sets[f"dynaweb-{name}"] = f"{name}.jsonl"
    write_json(out / LLAMAFACTORY / "dataset_info.json", dataset_info(sets))
    _recipes(out / LLAMAFACTORY, sets, counts, exact=exact)
    return tally


def _recipes(folder: Path, sets: Iterable[str], counts: Counts, *, exact: bool) -> None:
    learnt = tuple(n for n in sets if n.startswith(f"dynaweb-{TRAIN}-"))
    thought = tuple(n for n in learnt if n.endswith(f"-{COT}"))
    dynamics = tuple(n for n in learnt if n not in thought)
    longer = _longer(counts) if exact else None
    write_json(folder / DEEPSPEED, ZERO2)
    write_text(folder / STAGE1, llamafactory_yaml(stage_one(dynamics), longer))
    if thought:
        write_text(folder / STAGE2, llamafactory_yaml(stage_two(thought), longer))


def _longer(counts: Counts) -> int:
    return sum(
        n
        for name, lengths in counts.tables.items()
        if name.startswith("tokens of ")
        for length, n in lengths.items()
        if int(length) > CUTOFF
    )


def _rows(place: Path, license: str, tally: Tally) -> Iterator[tuple[ChatMessage, ...]]:
    for path in sorted(place.glob("*.jsonl")):
        for row in read_rows(path, tally):
            _require_licence(row, license)
            turns = messages_of(row.fields)
            if not turns:
                raise StorageError(
                    f"{row.where} in {place} is no row of a data set; make the data anew"
                )
            yield turns
        if tally.dropped:
            raise StorageError(
                f"{path} is damaged: {next(iter(tally.first.values()))}; make the data anew"
            )


def _told(rows: Iterable[Sequence[ChatMessage]], kind: ExportFormat) -> Iterator[dict[str, object]]:
    return (turns_row(turns, kind) for turns in rows)


def _require_licence(row: Row, license: str) -> None:
    about = row.fields.get("about")
    if isinstance(about, dict) and not (about.get("license") or license):
        raise UserError(
            f"the licence of the pages of {str(about.get('trajectory'))[:80]!r} is unknown, so they are not exported: say it with --license, or --no-export"
        )
