"""NNetNav's SFT rows (stanfordnlp/nnetnav-wa and -live): one step a row, rows of one attempt together.

A row is `{dataset, id, task_name, prompt, output, messages, n_tokens}`; the user's message holds page, address, objective
and previous actions, the assistant's ends in a fenced call in WebArena's id grammar. Attempts are model-written and
relabelled in hindsight (D15): none is a failure, and the page after the last action is not recorded.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from dynaweb.dataset.imports.recorded import (
    Attempt,
    Provenance,
    ending,
    id_call,
    id_steps,
    page,
    trajectory,
    without_tabs,
)
from dynaweb.dataset.imports.rows import Row, checked, read_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.trajectory import Outcome, Reason, Step, Trajectory

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
    steps: tuple[Step, ...]


def read_nnetnav(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The attempts of a file: a new one begins with another task, or with a step that has no past."""
    held: list[_Read] = []
    count = 0
    for row in read_rows(path, tally, skip_damaged=skip_damaged):
        read = _read(row, tally)
        if read is None:
            continue
        if held and (read.task != held[0].task or read.first):
            yield trajectory(_attempt(held, count), known)
            held, count = [], count + 1
        held.append(read)
    if held:
        yield trajectory(_attempt(held, count), known)


def _read(row: Row, tally: Tally) -> _Read | None:
    found = checked(NnetnavRow, row, tally, "row")
    if found is None:
        return None
    said = {m.role: m.content for m in found.messages}
    asked = _ASKED.search(said.get("user", found.prompt))
    if asked is None:
        tally.drop("row has no OBSERVATION, URL, OBJECTIVE and PREVIOUS ACTIONS", row.where)
        return None
    answer = _MARKERS.sub("", said.get("assistant", found.output)).strip()
    steps = id_steps(
        page(asked["url"].strip(), without_tabs(asked["tree"])),
        _SUMMARY.sub("", answer).strip(),
        id_call(answer),
        tally,
        row.where,
    )
    return _Read(
        task=found.task_name,
        dataset=found.dataset,
        goal=asked["goal"].strip(),
        first=len(_NUMBERED.findall(asked["past"])) <= 1,
        steps=steps,
    )


def _attempt(held: list[_Read], count: int) -> Attempt:
    steps = tuple(step for read in held for step in read.steps)
    over = ending(steps[-1].action) is Reason.ANSWERED
    return Attempt(
        trajectory_id=f"{held[0].task}#{count}",
        task=f"nnetnav.{held[0].task}",
        goal=held[0].goal,
        steps=steps,
        final=None,
        outcome=Outcome.SUCCESS if over else Outcome.UNKNOWN,
        reason=Reason.ANSWERED if over else Reason.OUT_OF_STEPS,
        detail="kept by NNetNav's own filter" if over else "the rows stop before an answer",
        policy="NNetNav",
        origin=held[0].dataset,
    )
