"""Training data of world models: settings chosen, files read, rows written, the result told."""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dynaweb.cli.drawing import drawing
from dynaweb.cli.endings import did_you_mean
from dynaweb.cli.endpoints import key_of, open_endpoint
from dynaweb.cli.saying import say
from dynaweb.cli.settings import override, settings_of
from dynaweb.contracts import ChatModel
from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.tally import told
from dynaweb.errors import UserError
from dynaweb.lm.config import EndpointConfig
from dynaweb.runs.atomic import write_json, write_text
from dynaweb.runs.folder import plain
from dynaweb.world.data.card import data_card
from dynaweb.world.data.compare import NEAR, Comparison, both_sides, compare_folder, require_clean
from dynaweb.world.data.foreign import Foreign
from dynaweb.world.data.forms import CountTokens
from dynaweb.world.data.row import RowKind
from dynaweb.world.data.run import Made, make_data
from dynaweb.world.data.settings import PRESETS, DataConfig, RowForm, SplitBy
from dynaweb.world.data.trainers import export_rows
from dynaweb.world.data.wish import DataWish, estimated_tokens

REPLIES = ".replies.sqlite"
"""What a model answered, beside the folder: `<folder>.replies.sqlite`."""


FORMS = frozenset(f.value for f in RowForm)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorWish:
    """Where the model is that explains transitions; an empty address asks none."""

    url: str = ""
    model: str = ""
    key_variable: str = ""

    def __post_init__(self) -> None:
        if bool(self.url) != bool(self.model):
            raise UserError(
                "--annotate-url and --annotate-model go together: name the server and its model"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What `dynaweb world data` was asked for."""

    files: tuple[Path, ...]
    out: Path
    config: DataConfig
    format: Format | None
    license: str
    origin: str
    skip_damaged: bool
    text: tuple[Path, ...]
    chat: tuple[Path, ...]
    tokenizer: Path | None
    annotator: AnnotatorWish
    export: bool
    near: bool


def chosen(preset: str, forms: Sequence[str], assignments: Sequence[str]) -> DataConfig:
    """A preset with everything that the command line changes.

    Raises:
        UserError: no such preset, form or setting, or a value out of range.
    """
    if preset not in PRESETS:
        raise UserError(
            f"--preset {preset!r}: use one of {', '.join(PRESETS)}{did_you_mean(preset, PRESETS)}"
        )
    config = PRESETS[preset]
    if forms:
        known = [f.value for f in RowForm]
        wrong = [f for f in forms if f not in known]
        if wrong:
            raise UserError(f"--form {wrong[0]!r}: use one of {', '.join(known)}")
        config = replace(config, forms=tuple(dict.fromkeys(map(RowForm, forms))))
    return override(config, assignments, "dynaweb world data --list-settings")


def show_settings(config: DataConfig) -> None:
    """Print every setting, its value and what it means."""
    for s in settings_of(config):
        value = plain(s.value)
        shown = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        print(f"{s.key} = {shown}" + (f"\n    {s.doc}" if s.doc else ""))


def make(wish: Wish, *, quiet: bool, as_json: bool) -> None:
    """Make the data set, compare its sides, write its card and what trainers read.

    Raises:
        UserError: a wrong file, another data set in the folder, an unknown licence.
        MissingDependencyError: a package is missing.
    """
    count, tokenizer = _counter(wish.tokenizer)
    asked = DataWish(
        sources=wish.files,
        out=wish.out,
        config=wish.config,
        format=wish.format,
        known=Provenance(license=wish.license, origin=wish.origin),
        foreign=tuple(
            Foreign(path=path, kind=kind)
            for kind, paths in ((RowKind.TEXT, wish.text), (RowKind.CHAT, wish.chat))
            for path in paths
        ),
        skip_damaged=wish.skip_damaged,
        sketches=wish.near,
        tokenizer=tokenizer,
    )
    with ExitStack() as stack, drawing(quiet=quiet) as progress:
        model = _annotator(wish, stack)
        made = make_data(asked, model=model, count=count, progress=progress, argv=tuple(sys.argv))
    found = compare_folder(made.folder)
    require_clean(found, wish.config.split.by)
    card = data_card(
        made.counts,
        made.read,
        wish.config,
        found,
        title=wish.out.absolute().name,
        license=wish.license,
        exact_tokens=bool(tokenizer),
    )
    write_text(wish.out / "README.md", card)
    lengths = ("chars of ", "tokens of ")
    tables = {k: v for k, v in made.counts.plain().items() if not k.startswith(lengths)}
    facts = {"counts": tables, "read": asdict(made.read), "overlap": asdict(found)}
    write_json(wish.out / "data.json", facts)
    if wish.export:
        exact = bool(tokenizer)
        export_rows(made.folder, wish.out, wish.license, made.counts, exact=exact)
    if as_json:
        print(json.dumps(facts, indent=1))
    else:
        _tell(wish.out, made, found)


def check(train: Path, held: Path, by: SplitBy, *, as_json: bool) -> None:
    """Compare two data sets.

    Raises:
        UserError: they share a question or a group.
    """
    found = both_sides(train, held, by)
    if as_json:
        print(json.dumps(asdict(found), indent=1))
    else:
        _tell_overlap(found)
    require_clean(found, by)


def _counter(folder: Path | None) -> tuple[CountTokens, str]:
    """What counts tokens, and its name; the estimate has none."""
    if folder is None:
        return estimated_tokens, ""
    from dynaweb.lm.tokenizer import Tokenizer

    tokenizer = Tokenizer.load(folder)
    digest = hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()[:16]

    def count(text: str) -> int:
        return len(tokenizer.encode(text))

    return count, digest


def _annotator(wish: Wish, stack: ExitStack) -> ChatModel | None:
    asked = wish.annotator
    if not asked.url:
        return None
    from dynaweb.lm.replystore import ReplyStore

    config = EndpointConfig(url=asked.url, model=asked.model, key_variable=asked.key_variable)
    key_of(config)  # a key that is missing is told before a file is made
    store = ReplyStore(wish.out.absolute().with_name(wish.out.absolute().name + REPLIES))
    stack.callback(store.close)
    return stack.enter_context(open_endpoint(config, store=store))


def _tell(out: Path, made: Made, found: Comparison) -> None:
    counts = made.counts
    say(
        f"{out}: {counts.total('rows')} rows from {counts.total('kept')} of {counts.total('steps')} steps of {counts.total('attempts')} attempts"
    )
    for title, table in (
        ("rows:", "rows"),
        ("left out, steps:", "dropped"),
        ("annotations:", "annotations"),
        ("personal details replaced:", "masked"),
    ):
        _tell_table(title, counts.tables.get(table, {}))
    for name, lost in counts.tables.items():
        if name.endswith(": dropped"):
            form = name.removesuffix(": dropped")
            _tell_table(f"no {form} row for:" if form in FORMS else f"{form}, left out:", lost)
    if made.read.dropped:
        say("\n".join(("left out before:", *told(made.read.dropped, made.read.first))))
    _tell_overlap(found)


def _tell_table(title: str, counts: Mapping[str, int]) -> None:
    if counts:
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        say("\n".join((title, *(f"{n:>7}  {name}" for name, n in ordered))))


def _tell_overlap(found: Comparison) -> None:
    near = (
        f"{found.near} of {found.sketched} others have a near-duplicate there (likeness {NEAR:g} or more)"
        if found.sketched
        else "near-duplicates were not measured"
    )
    say(
        f"overlap: {found.same} of {found.eval} transitions to measure with stand among the {found.train} to train on; {near}"
    )
    for name in found.near_named:
        say(f"  {name}")
