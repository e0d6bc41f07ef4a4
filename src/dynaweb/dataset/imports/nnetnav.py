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

from dynaweb.axtree.dialects.document import Dialect
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
    steps: tuple[Step, ...]


def read_nnetnav(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The attempts of a file: a new one begins with another task, or with a step that has no past."""
    held: list[_Read] = []
    count = 0
    for found, where in checked_rows(path, NnetnavRow, tally, "row", skip_damaged=skip_damaged):
        read = _read(found, where, tally)
        if read is None:
            continue
        if held and (read.task != held[0].task or read.first):
            yield completed(_attempt(held, count), known)
            held, count = [], count + 1
        held.append(read)
    if held:
        yield completed(_attempt(held, count), known)


def _read(found: NnetnavRow, where: str, tally: Tally) -> _Read | None:
    said = {m.role: m.content for m in found.messages}
    asked = _ASKED.search(said.get("user", found.prompt))
    if asked is None:
        tally.drop("row has no OBSERVATION, URL, OBJECTIVE and PREVIOUS ACTIONS", where)
        return None
    answer = _MARKERS.sub("", said.get("assistant", found.output)).strip()
    reader = PageReader(tally=tally, dialect=Dialect.WEBARENA)
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
