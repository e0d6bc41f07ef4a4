"""Which content a file has, and what is said of it."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from dynaweb.agent.reply import read_reply
from dynaweb.axtree.dialects.document import Document, OddKind
from dynaweb.axtree.dialects.read import read_document as read_tree_document
from dynaweb.cli.files import read_text
from dynaweb.cli.inspected.reply import reply_facts, reply_summary
from dynaweb.cli.inspected.rows import rows_facts, rows_summary
from dynaweb.cli.inspected.trajectories import (
    survey_facts,
    survey_lines,
    transition_at,
    walk_facts,
    walk_lines,
)
from dynaweb.cli.inspected.transition import Line, look_at, transition_facts, transition_lines
from dynaweb.cli.inspected.tree import tree_facts, tree_summary
from dynaweb.cli.reading import watched
from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.listed import is_list
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.rows import read_document
from dynaweb.dataset.imports.run import read_trajectories
from dynaweb.dataset.imports.source import first_bytes
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.survey import survey
from dynaweb.errors import StorageError, TreeError, UserError
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.progress import Progress, silent

_MARKED_UP = re.compile(rb"[\xef\xbb\xbf\s]*(?:<|\{|\[\s*(?:\{|\Z))")
"""Markup, JSON objects, or a list of them; a tree's `[12] button` is neither."""
_BINARY = re.compile(rb"PAR1|\x80[\x02-\x05]")
"""Parquet, and the pickles that are refused by name."""
_LOOKED_AT = 1 << 16
MAX_FROM_END = 100
"""Trajectories that are held while one is counted from the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked."""

    file: Path
    content: Literal["auto", "tree", "reply", "trajectories", "rows"]
    show: int | None
    step: int | None


@dataclass(frozen=True, slots=True)
class Told:
    """What there is to say, for machines or for people; made when asked."""

    facts: Callable[[], dict[str, object]]
    lines: Callable[[], Iterable[Line]]


def inspect_file(wish: Wish, progress: Progress = silent) -> Told:
    """Look at a file; a long one says how far it is (stage `read`).

    Raises:
        UserError: no such file, no content we know, or no such trajectory or step. StorageError: it cannot be read.
    """
    match wish.content:
        case "trajectories":
            return _trajectories(wish, progress)
        case "rows":
            return _rows(wish.file, "", progress)
        case "tree":
            return _tree(read_text(wish.file), wish.file, "")
        case "reply":
            return _reply(read_text(wish.file))
        case "auto":
            return _found_out(wish, progress)


def _found_out(wish: Wish, progress: Progress) -> Told:
    path = wish.file
    asked = (wish.show, wish.step) != (None, None)
    head = b"" if path.is_dir() else first_bytes(path, _LOOKED_AT)
    if path.is_dir() or asked or _BINARY.match(head):
        return _trajectories(wish, progress)
    if not _MARKED_UP.match(head):
        return _text(path)
    try:
        detect(path)
    except UserError as error:
        return _rows(path, str(error), progress) if _is_json(path, head) else _text(path)
    return _trajectories(wish, progress)


def _is_json(path: Path, head: bytes) -> bool:
    """Lines of JSON, some of them damaged perhaps, or one document; a reply may begin like either."""
    lines = [line for line in head.lstrip(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    if all(line.lstrip().startswith((b"{", b"[")) for line in lines):
        return True
    if is_list(path):
        return True
    try:
        read_document(path)
    except StorageError:
        return False
    return True


def _text(path: Path) -> Told:
    """A tree, or a reply, which may repeat a few lines of a tree."""
    text = read_text(path)
    reply = read_reply(text)
    if reply.action is None:
        return _tree(text, path, "; --as reply says why it holds no action")
    try:
        document = read_tree_document(text)
    except TreeError:
        return _reply(text)
    elements = sum(bool(n.role) for n in document.nodes)
    return _reply(text) if len(document.oddities) >= elements else _tree_of(document, text)


def _tree(text: str, path: Path, hint: str) -> Told:
    try:
        document = read_tree_document(text)
    except TreeError as error:
        raise UserError(f"{str(path)!r}: {error}{hint}") from error
    elements = sum(bool(n.role) for n in document.nodes)
    strange = [o.line for o in document.oddities if o.kind is OddKind.UNPLACED and o.text.strip()]
    if hint and 0 < elements <= len(strange):
        raise UserError(
            f"{str(path)!r}: {elements} lines look like elements and {len(strange)} like none (the first is line {strange[0]}): if it is a tree all the same, --as tree reads it"
        )
    return _tree_of(document, text)


def _tree_of(document: Document, text: str) -> Told:
    facts = partial(tree_facts, document, text)
    return Told(facts, lambda: _plain(tree_summary(document, facts())))


def _reply(text: str) -> Told:
    reply = read_reply(text)
    return Told(partial(reply_facts, text, reply), lambda: _plain(reply_summary(text, reply)))


def _rows(path: Path, why: str, progress: Progress) -> Told:
    facts = partial(rows_facts, path, why, progress)
    return Told(facts, lambda: _plain(rows_summary(facts())))


def _plain(lines: Iterable[str]) -> Iterator[Line]:
    return (("", line) for text in lines for line in text.split("\n"))


def _trajectories(wish: Wish, progress: Progress) -> Told:
    tally = Tally()
    kind = detect(wish.file)
    stored = read_trajectories(wish.file, kind, Provenance(), tally, skip_damaged=True)
    read = watched(stored, wish.file, tally, progress)
    if wish.show is None and wish.step is None:
        held: deque[Trajectory] = deque(maxlen=1)
        found = survey(_holding(read, held), tally)
        if not found.trajectories and not tally.dropped:
            raise UserError(f"{str(wish.file)!r} holds no trajectories")
        said = Told(partial(survey_facts, found, kind, tally), lambda: survey_lines(found, kind, tally))  # fmt: skip
        return _with_only(said, held[0]) if found.trajectories == 1 else said
    chosen = _pick(read, wish.show or 0, wish.file)
    if wish.step is None:
        return Told(partial(walk_facts, chosen), lambda: walk_lines(chosen))
    return _transition(chosen, wish.step)


def _transition(chosen: Trajectory, number: int) -> Told:
    name = f"step {number} of {chosen.trajectory_id}"
    look = look_at(name, transition_at(chosen, number))
    return Told(partial(transition_facts, look), lambda: transition_lines(look))


def _with_only(said: Told, only: Trajectory) -> Told:
    """A file of one trajectory shows it too: step by step, or what its one step changed."""
    one = len(only.steps) == 1 and bool(only.transitions())
    more = _transition(only, 1) if one else Told(partial(walk_facts, only), lambda: walk_lines(only))  # fmt: skip
    return Told(
        lambda: {**said.facts(), "only": more.facts()},
        lambda: (*said.lines(), ("", ""), *more.lines()),
    )


def _holding(read: Iterator[Trajectory], held: deque[Trajectory]) -> Iterator[Trajectory]:
    for t in read:
        held.append(t)
        yield t


def _pick(read: Iterator[Trajectory], index: int, path: Path) -> Trajectory:
    """One trajectory; what comes after it is not read."""
    if index < -MAX_FROM_END:
        raise UserError(f"--show {index}: from the end at most {MAX_FROM_END}; count from 0")
    if index >= 0:
        found = next((t for number, t in enumerate(read) if number == index), None)
    else:
        last = deque(read, maxlen=-index)
        found = last[0] if len(last) == -index else None
    if found is None:
        raise UserError(
            f"{str(path)!r} has no trajectory {index}, counted from 0: without --show it says how many there are"
        )
    return found
