"""`dynaweb world data`: files of trajectories into a folder of training data, streaming, to be killed and taken up again.

One shard of attempts is in memory at a time, beside some hundred bytes for each transition (to know duplicates, and which side owns
it). A run that is taken up reads its files again, to know what was met before, but makes no shard twice; what a model answered before is the model's to remember (`lm.replystore`).
"""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dynaweb.contracts import ChatModel
from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.run import read_trajectories
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import StorageError, UserError
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.folder import RunFolder
from dynaweb.runs.jsonfile import decode
from dynaweb.runs.progress import Progress, silent
from dynaweb.world.data.counts import Counts, read_counts
from dynaweb.world.data.foreign import require_learnable
from dynaweb.world.data.forms import CountTokens
from dynaweb.world.data.making import Making
from dynaweb.world.data.wish import DataWish, estimated_tokens

STAGE = "rows"
"""Folder of the rows in a data set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a run came to."""

    folder: Path
    """Where the rows stand."""
    counts: Counts
    read: Tally
    """What was left out before: damaged lines, rows that are no trajectory."""
    resumed: bool


def make_data(
    wish: DataWish,
    *,
    model: ChatModel | None = None,
    count: CountTokens = estimated_tokens,
    progress: Progress = silent,
    argv: tuple[str, ...] = (),
) -> Made:
    """Write the rows of `wish.out`, or find them there.

    Raises:
        UserError: a source is missing or of no known format, the folder holds another data set, or nothing was let in.
        StorageError: a source cannot be read, or the folder not written.
        MissingDependencyError: sketches need a package that is not there.
        SamplerError: the model cannot be reached.
    """
    began = time.monotonic()
    kinds = [wish.format or detect(path) for path in wish.sources]
    require_learnable(wish.foreign)
    asked = {"config": wish.config, "inputs": _inputs(wish, kinds, model)}
    with RunFolder(wish.out, config=asked, seed=wish.config.seed, argv=argv) as run:
        done = run.done(STAGE, asked)
        if done is not None:
            return _found(run.stage(STAGE), done.facts)
        folder = run.begin(STAGE, asked)
        making = Making(wish, folder, model, count, progress)
        making.shards(_attempts(wish, kinds, making.read))
        making.thoughts()
        making.users_own()
        if not making.counts.total("rows"):
            why: Mapping[str, int] = making.counts.tables.get("dropped", {})
            raise UserError(f"nothing was let in: {dict(why) or 'no attempt has a step'}")
        facts = {"counts": making.counts.plain(), "read": asdict(making.read)}
        run.finish(STAGE, asked, seconds=time.monotonic() - began, facts=facts)
        return Made(folder=folder, counts=making.counts, read=making.read, resumed=making.resumed)


def _found(folder: Path, facts: Mapping[str, object]) -> Made:
    """What a finished run left."""
    read = decode(Tally, facts["read"], str(folder))
    return Made(folder=folder, counts=read_counts(facts["counts"]), read=read, resumed=True)


def _inputs(wish: DataWish, kinds: Sequence[Format], model: ChatModel | None) -> object:
    """What decides the result beside the configuration: contents, no paths."""
    return {
        "sources": [(k.value, _digest(p)) for k, p in zip(kinds, wish.sources, strict=True)],
        "foreign": [(f.kind.value, _digest(f.path)) for f in wish.foreign],
        "known": [str(v) for v in (wish.known.origin, wish.known.behaviour, wish.known.policy)],
        "skip_damaged": wish.skip_damaged,
        "sketches": wish.sketches,
        "tokenizer": wish.tokenizer,
        "annotator": model.version if model is not None else "",
    }


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except FileNotFoundError:
        raise UserError(f"no file {str(path)[:200]!r}") from None
    except OSError as error:
        raise StorageError(f"cannot read {str(path)[:200]!r}: {error.strerror}") from error


def _attempts(wish: DataWish, kinds: Sequence[Format], tally: Tally) -> Iterator[Trajectory]:
    # a licence that the caller names is no part of the rows: it may be named later
    known = replace(wish.known, license="")
    for path, kind in zip(wish.sources, kinds, strict=True):
        yield from read_trajectories(path, kind, known, tally, skip_damaged=wish.skip_damaged)
