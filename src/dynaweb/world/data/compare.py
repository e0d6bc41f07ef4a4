"""Whether data to measure with were trained on (papers F23): the same question, the same task; and how alike the rest is."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.rows import read_rows
from dynaweb.dataset.imports.run import read_trajectories
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import StorageError, UserError
from dynaweb.records.packing import unpack
from dynaweb.world.data.admit import HELD_OUT, TRAIN, group_name
from dynaweb.world.data.keys import Neighbours, Sketch, Sketcher, action_key, question_key
from dynaweb.world.data.settings import SplitBy
from dynaweb.world.data.shard import INDEX
from dynaweb.world.steps import known_steps

NEAR = 0.9
"""Likeness from which a transition counts as a near-duplicate."""
MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One transition of a data set."""

    key: str
    group: str
    about: str
    sketch: Sketch | None
    name: str


@dataclass(slots=True, kw_only=True)
class Comparison:
    """What two data sets share."""

    train: int = 0
    """Transitions to train on."""
    eval: int = 0
    """Transitions to measure with."""
    same: int = 0
    """Of those, how many have a page and action that stand in training too."""
    near: int = 0
    """Of the others that have a sketch, how many have a near-duplicate in training."""
    sketched: int = 0
    """How many of the others were compared so."""
    groups: list[str] = field(default_factory=list)
    """Tasks, sites or pages (as the split has it) that stand on both sides."""
    named: list[str] = field(default_factory=list)
    """The first shared transitions: `name of one is name of the other`."""
    near_named: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Nothing is on both sides."""
        return not self.same and not self.groups


def compare(train: Iterable[Item], held: Iterable[Item]) -> Comparison:
    """Compare; of the training side keys, groups and sketches are held, no pages."""
    found = Comparison()
    known: dict[str, str] = {}
    groups: set[str] = set()
    near = Neighbours()
    for item in train:
        found.train += 1
        known.setdefault(item.key, item.name)
        groups.add(item.group)
        if item.sketch is not None:
            near.add(item.about, item.sketch, item.name)
    shared: dict[str, None] = {}
    for item in held:
        found.eval += 1
        if item.group in groups:
            shared.setdefault(item.group)
        if item.key in known:
            found.same += 1
            _name(found.named, f"{item.name} is {known[item.key]}")
        elif item.sketch is not None:
            found.sketched += 1
            likeness, other = near.nearest(item.about, item.sketch)
            if likeness >= NEAR:
                found.near += 1
                _name(found.near_named, f"{item.name} is like {other} ({likeness:.2f})")
    found.groups = list(shared)
    return found


def _name(names: list[str], text: str) -> None:
    if len(names) < MOST_NAMED:
        names.append(text)


def require_clean(found: Comparison, by: SplitBy) -> None:
    """Refuse data sets that share anything.

    Raises:
        UserError: they do; names the first transitions and groups.
    """
    if found.clean:
        return
    told = []
    if found.same:
        first = "; ".join(found.named[:3])
        told.append(
            f"{found.same} of {found.eval} transitions have a page and action that are trained on, e.g. {first}"
        )
    if found.groups:
        shown = ", ".join(map(repr, found.groups[:MOST_NAMED]))
        told.append(f"{len(found.groups)} {by.value}s are on both sides, e.g. {shown}")
    raise UserError(
        f"contaminated: {'; and '.join(told)}: measure on other data, or split by {by.value}"
    )


def folder_items(folder: Path, side: str) -> Iterator[Item]:
    """The transitions of one side of a data folder, from its index.

    Raises:
        StorageError: a line of the index is damaged.
    """
    for path in sorted((folder / INDEX).glob("*.jsonl")):
        tally = Tally()
        for row in read_rows(path, tally):
            if row.fields.get("side") == side:
                yield _item(row.fields, row.where)
        if tally.dropped:
            raise StorageError(
                f"{path} is damaged: {next(iter(tally.first.values()))}; make the data anew"
            )


def compare_folder(folder: Path) -> Comparison:
    """The two sides of one data set, from its index.

    Raises:
        StorageError: a line of the index is damaged.
    """
    return compare(folder_items(folder, TRAIN), folder_items(folder, HELD_OUT))


def items_of(path: Path, side: str, by: SplitBy, sketcher: Sketcher | None) -> Iterator[Item]:
    """The transitions of a data folder (its `side`) or of a file: rows that `world data` wrote, or trajectories of any known format.

    Raises:
        UserError: no data folder, or a file of no known format.
    """
    if path.is_dir():
        found = [p for p in (path, path / "rows") if (p / INDEX).is_dir()]
        if not found:
            raise UserError(
                f"{str(path)!r} is no folder that `dynaweb world data` wrote: it has no index"
            )
        return folder_items(found[0], side)
    first = next(read_rows(path, Tally(), skip_damaged=True), None)
    if first is not None and isinstance(first.fields.get("about"), dict):
        return _row_items(path)
    return _trajectory_items(path, by, sketcher)


def both_sides(train: Path, held: Path, by: SplitBy) -> Comparison:
    """Compare two data sets on disk: the training side of one, the held-out side of the other.

    Raises:
        UserError: one of them is no data set. MissingDependencyError: sketches need a package that is not there.
    """
    sketcher = Sketcher()
    return compare(
        items_of(train, TRAIN, by, sketcher),
        items_of(held, HELD_OUT, by, sketcher),
    )


def _item(fields: dict[str, object], where: str) -> Item:
    key, group, about, name = (fields.get(k) for k in ("key", "group", "about", "name"))
    if not (
        isinstance(key, str)
        and isinstance(group, str)
        and isinstance(about, str)
        and isinstance(name, str)
    ):
        raise StorageError(f"{where} is no line of an index; make the data anew")
    return Item(key=key, group=group, about=about, sketch=_sketch(fields.get("sketch")), name=name)


def _sketch(held: object) -> Sketch | None:
    if not isinstance(held, list) or len(held) != 2:
        return None
    page, after = (unpack(text) if isinstance(text, str) else None for text in held)
    if page is None or after is None:
        return None
    return Sketch(tuple(map(int, page)), tuple(map(int, after)))


def _row_items(path: Path) -> Iterator[Item]:
    """Rows carry their questions' keys, no sketch."""
    for row in read_rows(path, Tally()):
        about = row.fields.get("about")
        if not isinstance(about, dict) or not isinstance(about.get("keys"), list):
            continue
        name = f"{about.get('trajectory', '')} step {about.get('index', 0)} ({row.where})"
        for key in about["keys"]:
            yield Item(key=str(key), group=str(about.get("task", "")), about="", sketch=None, name=name)  # fmt: skip


def _trajectory_items(path: Path, by: SplitBy, sketcher: Sketcher | None) -> Iterator[Item]:
    for trajectory in read_trajectories(path, detect(path), Provenance(), Tally()):
        group = group_name(trajectory, by)
        for known in known_steps(trajectory):
            page = known.history[-1]
            yield Item(
                key=question_key(page, known.action),
                group=group,
                about=action_key(page, known.action),
                sketch=None if sketcher is None else sketcher.sketch(page, known.next_page),
                name=f"{trajectory.trajectory_id} step {known.index}",
            )
