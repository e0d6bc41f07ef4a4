"""Import: any files we can read into one file of trajectories, streaming, whole or not at all."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from dynaweb.dataset.imports.atif import read_atif
from dynaweb.dataset.imports.browsergym import read_browsergym, refuse_folder
from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.gobrowse import read_gobrowse
from dynaweb.dataset.imports.nnetnav import read_nnetnav
from dynaweb.dataset.imports.own import read_own
from dynaweb.dataset.imports.pairs import read_pairs
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.source import require_file
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.imports.webarena_html import read_webarena_html
from dynaweb.dataset.imports.webarena_traces import read_webarena_traces
from dynaweb.dataset.imports.webvoyager import read_webvoyager_chat
from dynaweb.errors import MissingDependencyError, StorageError, UserError
from dynaweb.records.codec import dump
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.atomic import read_json, require_replaceable, write_json, writing


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportWish:
    """What to import, and what the caller knows about it."""

    sources: tuple[Path, ...]
    out: Path
    format: Format | None = None
    """None: told from each file."""
    known: Provenance = field(default_factory=Provenance)
    skip_damaged: bool = False
    """Go on after a damaged line in the middle of a file; without, the valid prefix is all."""


def read_trajectories(
    path: Path, kind: Format, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The trajectories of one file, one at a time.

    Raises:
        UserError: no such file. StorageError: it cannot be read.
    """
    require_file(path)
    match kind:
        case Format.PARQUET | Format.MIND2WEB | Format.MIND2WEB_ACTIONS:
            return _with_extra(path, kind, known, tally, skip_damaged=skip_damaged)
        case Format.WEBARENA_HTML:
            return read_webarena_html(path, known, tally)
        case Format.WEBVOYAGER:
            return read_webvoyager_chat(path, known, tally)
        case _:
            return _ROWS[kind](path, known, tally, skip_damaged=skip_damaged)


class _Reader(Protocol):
    def __call__(
        self, path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
    ) -> Iterator[Trajectory]: ...


_ROWS: Mapping[Format, _Reader] = {
    Format.DYNAWEB: read_own,
    Format.WEBARENA_TRACES: read_webarena_traces,
    Format.NNETNAV: read_nnetnav,
    Format.GOBROWSE: read_gobrowse,
    Format.BROWSERGYM: read_browsergym,
    Format.ATIF: partial(read_atif, whole=True),
    Format.ATIF_LINES: partial(read_atif, whole=False),
    Format.TRANSITIONS: partial(read_pairs, whole=True),
    Format.TRANSITION_LINES: partial(read_pairs, whole=False),
}
"""Files of rows, in which a damaged one can be passed over."""


def needs_data(what: str, package: str | None) -> str:
    """How to get a package of the extra `data`."""
    return f"{what} needs the package {package!r}: pip install 'dynaweb[data]'"


def _with_extra(
    path: Path, kind: Format, known: Provenance, tally: Tally, *, skip_damaged: bool
) -> Iterator[Trajectory]:
    """Formats whose readers need a package of the extra `data`."""
    try:
        if kind is Format.PARQUET:
            from dynaweb.dataset.imports.parquet import columns_of, read_parquet  # noqa: PLC0415 - an extra

            if not {"annotation_id", "action_uid"} <= columns_of(path):
                return read_parquet(path, tally)
        from dynaweb.dataset.imports import mind2web  # noqa: PLC0415 - an extra

        whole = kind is Format.MIND2WEB
        read = mind2web.read_mind2web if whole else mind2web.read_mind2web_actions
        return read(path, known, tally, skip_damaged=skip_damaged)
    except ModuleNotFoundError as error:
        raise MissingDependencyError(needs_data(kind.value, error.name)) from error


def import_files(wish: ImportWish) -> Tally:
    """Write `wish.out`, and beside it `<out>.import.json`: what was read, kept and left out.

    The same import again finds its own work and does nothing.

    Raises:
        UserError: a source is missing or of no known format; `out` holds something else already.
        StorageError: a source cannot be read, or `out` not written.
    """
    require_replaceable(wish.out)
    if wish.out.resolve() in {path.resolve() for path in wish.sources}:
        raise UserError(f"{str(wish.out)!r} is one of the files to import: choose another --out")
    asked = _asked(wish)
    beside = wish.out.with_name(wish.out.name + ".import.json")
    if wish.out.exists():
        done = read_json(beside) or {}
        if done.get("asked") != asked:
            raise UserError(
                f"{str(wish.out)!r} is there already, from another import: choose another --out, or delete it"
            )
        return _tally_of(done, beside)
    tally, seen = Tally(), set[str]()
    sources = _without_cards(wish.sources, tally)
    kinds = [wish.format or detect(path) for path in sources]
    with writing(wish.out) as file:
        for path, kind in zip(sources, kinds, strict=True):
            read = read_trajectories(path, kind, wish.known, tally, skip_damaged=wish.skip_damaged)
            for found in read:
                if found.trajectory_id in seen:
                    tally.note(
                        "trajectory id stands twice", f"{path.name}: {found.trajectory_id[:80]!r}"
                    )
                seen.add(found.trajectory_id)
                tally.add(found)
                file.write(dump(found) + "\n")
        # before `out` itself: a kill between the two leaves no file that looks like another's
        write_json(beside, {"asked": asked, "tally": asdict(tally)})
    return tally


def _without_cards(sources: tuple[Path, ...], tally: Tally) -> list[Path]:
    """`DIR/*` names the folder's data card too, which is no file of trajectories."""
    cards = [path for path in sources if path.suffix.lower() == ".md"]
    if len(cards) in (0, len(sources)):
        return list(sources)
    for card in cards:
        tally.note("file passed over: Markdown, such as a data card", card.name)
    return [path for path in sources if path not in cards]


def _asked(wish: ImportWish) -> dict[str, object]:
    """What decides the result: contents of the sources and every choice, no paths."""
    return {
        "sources": [_digest(path) for path in wish.sources],
        "format": wish.format,
        "known": {k: str(v) for k, v in asdict(wish.known).items()},
        "skip_damaged": wish.skip_damaged,
    }


def _digest(path: Path) -> str:
    if path.is_dir():
        refuse_folder(path)
    require_file(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StorageError(f"cannot read {str(path)!r}: {error.strerror}") from error


def _tally_of(done: dict[str, object], beside: Path) -> Tally:
    try:
        return TypeAdapter(Tally).validate_json(json.dumps(done.get("tally")), strict=True)
    except ValidationError as error:
        raise StorageError(
            f"{str(beside)!r} is damaged: {error.errors()[0]['msg'].lower()}; delete it and what it stands beside, and import again"
        ) from error
