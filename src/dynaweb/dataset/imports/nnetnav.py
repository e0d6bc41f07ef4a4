"""NNetNav's SFT rows (stanfordnlp/nnetnav-wa and -live): one step a row.

In the published files rows are shuffled: a row's `id` is its `task_name` and the number of its step, and attempts are put together by it, a
page at a time from a copy on disk. Rows whose `id` does not say it, as NNetNav's own script writes them, stand together and in order. Pages
are WebArena's text in some rows and BrowserGym's in others.

A row is `{dataset, id, task_name, prompt, output, messages, n_tokens}`; the user's message holds page, address, objective
and previous actions, the assistant's ends in a fenced call in WebArena's id grammar. Attempts are model-written and
relabelled in hindsight (D15): none is a failure, and the page after the last action is not recorded.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile

from pydantic import BaseModel, ConfigDict

from dynaweb.dataset.imports.recorded import (
    PageReader,
    Provenance,
    completed,
    id_call,
    id_steps,
    stopping,
)
from dynaweb.dataset.imports.rows import checked_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.trajectory import Behaviour, Outcome, Reason, Step, Trajectory, World

_ASKED = re.compile(
    r"OBSERVATION:\s*\n(?P<tree>.*)\nURL:(?P<url>.*?)\nOBJECTIVE:(?P<goal>.*?)\nPREVIOUS ACTIONS?:(?P<past>.*)",
    re.DOTALL,
)
_NUMBERED = re.compile(r"^\s*\d+: ", re.MULTILINE)
_MARKERS = re.compile(r"<\|[a-z_]+\|>(?:assistant|user|system)?")
_SUMMARY = re.compile(r"In summary,.*\Z", re.DOTALL)


class Message(BaseModel):
    """One turn."""

    role: str
    content: str


class NnetnavRow(BaseModel):
    """One step."""

    model_config = ConfigDict(strict=True, extra="allow")
    task_name: str
    prompt: str = ""
    output: str = ""
    messages: list[Message] = []
    dataset: str = "nnetnav"
    id: str | None = None
    n_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    task: str
    dataset: str
    goal: str
    first: bool
    """Nothing was done before this step."""
    number: int | None
    """Of the step, where the file says it."""
    steps: tuple[Step, ...]


def read_nnetnav(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The attempts of a file, in the order of their first rows.

    Where rows are numbered: the steps of a task that follow each other; a step that is missing ends an attempt, and is counted.
    Else a new one begins with another task, or with a step that has no past.
    """
    rows = checked_rows(path, NnetnavRow, tally, "row", skip_damaged=skip_damaged)
    first = next(rows, None)
    if first is None:
        return
    ordered = _together(chain([first], rows), tally) if _number(first[0]) is not None else chain([first], rows)  # fmt: skip
    held: list[_Read] = []
    count = 0
    for found, where in ordered:
        read = _read(found, where, tally)
        if read is None:
            continue
        if held and not _follows(held[-1], read, tally, where):
            yield completed(_attempt(held, count), known)
            held, count = [], count + 1
        held.append(read)
    if held:
        yield completed(_attempt(held, count), known)


def _number(row: NnetnavRow) -> int | None:
    """Which step of its attempt a row is, counted from 0, where its id says it."""
    task, _, number = (row.id or "").rpartition("_")
    return int(number) if task == row.task_name and number.isdecimal() and len(number) < 7 else None


def _together(
    rows: Iterable[tuple[NnetnavRow, str]], tally: Tally
) -> Iterator[tuple[NnetnavRow, str]]:
    """The rows of a task together and in order, tasks in the order of their first rows; held on disk meanwhile."""
    places: dict[str, list[tuple[int, int, str]]] = {}
    with TemporaryFile() as held:
        for row, where in rows:
            number = _number(row)
            if number is None:
                tally.drop("row is not numbered in a file of numbered rows", where)
                continue
            places.setdefault(row.task_name, []).append((number, held.tell(), where))
            held.write(row.model_dump_json().encode("utf-8", "surrogatepass") + b"\n")
        for places_of in places.values():
            for _, at, where in sorted(places_of):
                held.seek(at)
                yield NnetnavRow.model_validate_json(held.readline()), where


def _follows(before: _Read, read: _Read, tally: Tally, where: str) -> bool:
    """Whether a row goes on with an attempt."""
    if read.task != before.task:
        return False
    if read.number is None or before.number is None:
        return not read.first
    is_next = read.number == before.number + 1
    place = f"{where}: step {read.number} after step {before.number}"
    tally.note("steps of an attempt are missing: what follows is one of its own", place, int(not is_next))  # fmt: skip
    return is_next


def _read(found: NnetnavRow, where: str, tally: Tally) -> _Read | None:
    said = {m.role: m.content for m in found.messages}
    asked = _ASKED.search(said.get("user", found.prompt))
    if asked is None:
        tally.drop("row has no OBSERVATION, URL, OBJECTIVE and PREVIOUS ACTIONS", where)
        return None
    answer = _MARKERS.sub("", said.get("assistant", found.output)).strip()
    reader = PageReader(tally=tally)
    steps = id_steps(
        reader.page(asked["url"].strip(), asked["tree"], where),
        _SUMMARY.sub("", answer).strip(),
        id_call(answer),
        tally,
        where,
    )
    return _Read(
        task=found.task_name,
        dataset=found.dataset,
        goal=asked["goal"].strip(),
        number=_number(found),
        first=len(_NUMBERED.findall(asked["past"])) <= 1,
        steps=steps,
    )


def _attempt(held: list[_Read], count: int) -> Trajectory:
    steps = tuple(step for read in held for step in read.steps)
    reason = stopping(steps[-1].action)
    over = reason is Reason.ANSWERED
    return Trajectory(
        trajectory_id=f"{held[0].task}#{count}",
        task=f"nnetnav.{held[0].task}",
        goal=held[0].goal,
        seed=0,
        steps=steps,
        outcome=Outcome.SUCCESS if over else Outcome.UNKNOWN,
        reason=reason,
        detail="kept by NNetNav's own filter" if over else "the rows stop before an answer",
        world=World.LIVE,
        behaviour=Behaviour.AGENT,
        policy_version="NNetNav",
        origin=held[0].dataset,
    )
