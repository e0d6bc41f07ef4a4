"""Rows or trajectories in, examples in tokens out; everything that is left out is counted, and what is too long is named."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.run import read_trajectories
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import UserError
from dynaweb.lm.language import Language
from dynaweb.lm.turns import Turns
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.progress import Progress
from dynaweb.train.batch import Example
from dynaweb.train.encode import encode_examples
from dynaweb.world.train import build_world_data
from dynaweb.world.training import WorldTrainConfig
from dynaweb.world.tuning.rows import ChatRow, ReadRows

TOO_LONG = "longer than the limit"
MOST_NAMED = 20
"""Rows that are named in the result file; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a stage learns from, and what became of everything that was read."""

    examples: tuple[Example, ...]
    rows_in: int
    """Rows, or examples made of steps; `rows_in == len(examples) + sum(dropped.values())`."""
    dropped: Mapping[str, int]
    """Reason -> rows."""
    first: Mapping[str, str]
    """Reason -> the first row that was left out for it."""
    too_long: tuple[str, ...]
    """Rows that were longer than the limit, with their length."""
    limit_tokens: int
    counts: Mapping[str, int] = field(default_factory=dict)
    """Steps behind the examples, where they were made of trajectories."""

    def __post_init__(self) -> None:
        assert self.rows_in == len(self.examples) + sum(self.dropped.values()), "rows got lost"

    def facts(self) -> dict[str, object]:
        """For the result file."""
        return {
            "rows_in": self.rows_in,
            "trained": len(self.examples),
            "dropped": dict(self.dropped),
            "first_dropped": dict(self.first),
            "limit_tokens": self.limit_tokens,
            "too_long": list(self.too_long[:MOST_NAMED]),
            "learnt_tokens": sum(e.learnt for e in self.examples),
            "tokens": sum(e.length for e in self.examples),
            "counts": dict(self.counts),
        }


def read_attempts(paths: Sequence[Path], tally: Tally) -> list[Trajectory]:
    """The trajectories of files of any known format.

    Raises:
        UserError: a file is missing or of no known format, or none holds a trajectory.
    """
    found = [t for p in paths for t in read_trajectories(p, detect(p), Provenance(), tally)]
    if not found:
        why = ", ".join(tally.dropped) or "they are empty"
        raise UserError(f"no trajectory in {', '.join(repr(str(p)) for p in paths)}: {why}")
    return found


def of_attempts(
    attempts: Sequence[Trajectory],
    read: Tally,
    language: Language,
    config: WorldTrainConfig,
    room: int,
) -> Material:
    """Changes and verdicts as the recipes learn them."""
    data = build_world_data(attempts, language, config, context=room)
    counts = dict(data.counts)
    longer = counts["dropped.world_too_long"] + counts["dropped.judge_too_long"]
    unread = {f"file: {reason}": n for reason, n in read.dropped.items()}
    return Material(
        examples=data.examples,
        rows_in=len(data.examples) + longer,
        dropped={TOO_LONG: longer} if longer else {},
        first={},
        too_long=data.too_long,
        limit_tokens=room,
        counts=counts | unread,
    )


def of_plain_rows(read: ReadRows, language: Language, room: int) -> Material:
    """Prompts and completions, joined as they are."""
    pairs = [(r.messages[0].content, r.messages[1].content) for r in read.rows]
    made = encode_examples(language, pairs)
    return _sorted_out(read, list(zip(read.rows, made, strict=True)), room)


def of_conversations(
    read: ReadRows, turns: Turns, room: int, progress: Progress, *, stage: str, last_only: bool
) -> Material:
    """Conversations, encoded by the model's chat template.

    Args:
        read: rows of messages.
        turns: of the model.
        room: longest row, in tokens.
        progress: told how far it is.
        stage: its name.
        last_only: of every row learn the last reply alone, whatever the row says.
    """
    made: list[tuple[ChatRow, Example | str]] = []
    for number, row in enumerate(read.rows, start=1):
        found = turns.encode(row.messages, last_only=last_only or row.last_only)
        if isinstance(found, str):
            made.append((row, found))
        else:
            made.append(
                (
                    row,
                    Example(
                        prompt_ids=found.prompt_ids,
                        completion_ids=found.completion_ids,
                        silent=found.silent,
                    ),
                )
            )
        progress(stage, number, len(read.rows))
    return _sorted_out(read, made, room)


def _sorted_out(
    read: ReadRows, made: Sequence[tuple[ChatRow, Example | str]], room: int
) -> Material:
    dropped, first = Counter(read.tally.dropped), dict(read.tally.first)
    kept: list[Example] = []
    longer: list[str] = []
    for row, found in made:
        if isinstance(found, Example) and found.length <= room:
            kept.append(found)
            continue
        reason = found if isinstance(found, str) else TOO_LONG
        dropped[reason] += 1
        first.setdefault(reason, row.where)
        if isinstance(found, Example):
            longer.append(f"{row.where}: {found.length} tokens")
    return Material(
        examples=tuple(kept),
        rows_in=len(made) + sum(read.tally.dropped.values()),
        dropped=dict(dropped),
        first={reason: first[reason] for reason in dropped if reason in first},
        too_long=tuple(longer),
        limit_tokens=room,
    )


def required(material: Material, what: str) -> Material:
    """Refuse a stage with nothing to learn from.

    Raises:
        UserError: nothing is left.
    """
    if material.examples:
        return material
    why = "; ".join(f"{n} {reason}" for reason, n in material.dropped.items()) or "nothing was read"
    named = f" ({material.too_long[0]}, the limit is {material.limit_tokens})"
    raise UserError(f"{what} has no row to learn from: {why}{named if material.too_long else ''}")


def of_one_kind(read: ReadRows) -> bool:
    """Whether the rows are prompts with completions; False for conversations.

    Raises:
        UserError: both, or none.
    """
    kinds = {r.plain for r in read.rows}
    if len(kinds) == 2:
        one, other = (next(r for r in read.rows if r.plain is p) for p in (True, False))
        raise UserError(
            f"{one.where} has a prompt and a completion, {other.where} has messages: train on one kind at a time"
        )
    if not kinds:
        why = "; ".join(f"{n} {r}" for r, n in read.tally.dropped.items()) or "they are empty"
        raise UserError(f"the files hold no row to learn from: {why}")
    return kinds == {True}
