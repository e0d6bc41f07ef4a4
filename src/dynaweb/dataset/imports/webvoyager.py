"""WebVoyager's `interact_messages.json`: the chat of one attempt (MinorJerry/WebVoyager).

Earlier pages are cut from the chat by its authors (`Omitted in context`), so most steps have an empty page, which is counted: such an
attempt is good for goals, thoughts and actions, not for a world model. The verdict is elsewhere.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.dataset.imports.recorded import (
    PageReader,
    Provenance,
    action_steps,
    completed,
    steps_of,
    stopping,
)
from dynaweb.dataset.imports.rows import checked_prefix, read_document
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import ActionError, StorageError
from dynaweb.records.trajectory import Behaviour, Outcome, Step, Trajectory, World
from dynaweb.records.webvoyager import read_webvoyager

_TASK = re.compile(r"given a task: (.*?)\s*Please interact with (\S+)", re.DOTALL)
_TREE = re.compile(r"^\[\d+\]: .*", re.MULTILINE | re.DOTALL)
_REPLY = re.compile(r"(?:Thought:\s*)?(?P<thought>.*?)\s*Action:\s*(?P<call>.*)", re.DOTALL)


class Part(BaseModel):
    """A piece of a turn; pictures have no text."""

    type: str
    text: str = ""


class Turn(BaseModel):
    """One turn."""

    model_config = ConfigDict(extra="allow")
    role: str
    content: str | list[Part]

    @property
    def words(self) -> str:
        """Its text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content)


def read_webvoyager_chat(path: Path, known: Provenance, tally: Tally) -> Iterator[Trajectory]:
    """The attempt of a file.

    Raises:
        StorageError: not a list of turns.
    """
    document = read_document(path, tally)
    if not isinstance(document, list):
        raise StorageError(f"{path}: not a list of messages")
    tally.rows += len(document)
    turns = list(checked_prefix(document, Turn, tally, "message", path.name))
    steps = tuple(_steps(turns, path.name, tally))
    if steps:
        yield completed(_attempt(path, turns, steps), known)


def _steps(turns: list[Turn], name: str, tally: Tally) -> Iterator[Step]:
    tree, reader = "", PageReader(tally=tally, dialect=Dialect.LABELS)
    for number, turn in enumerate(turns):
        where = f"{name} message {number}"
        if turn.role == "user":
            found = _TREE.search(turn.words)
            tree = found[0].strip() if found is not None else ""
        if turn.role != "assistant":
            continue
        tally.note("page is not in the chat", where, int(not tree))
        reply = _REPLY.match(turn.words)
        thought = reply["thought"] if reply is not None else turn.words
        call = reply["call"].strip() if reply is not None else ""
        seen = reader.page("", tree, where)
        try:
            yield from action_steps(seen, thought, read_webvoyager(call), tally, where)
        except ActionError:
            yield from steps_of(seen, thought, call, tally, where)


def _attempt(path: Path, turns: list[Turn], steps: tuple[Step, ...]) -> Trajectory:
    told = next((f for t in turns if t.role == "user" and (f := _TASK.search(t.words))), None)
    name = path.parent.name if path.stem == "interact_messages" else path.name.partition(".")[0]
    return Trajectory(
        trajectory_id=f"webvoyager.{name}",
        task=f"webvoyager.{name}",
        goal=told[1] if told is not None else "",
        seed=0,
        steps=steps,
        outcome=Outcome.UNKNOWN,
        reason=stopping(steps[-1].action),
        detail="the chat holds no verdict",
        world=World.LIVE,
        behaviour=Behaviour.AGENT,
        policy_version="WebVoyager",
        origin=told[2] if told is not None else "",
    )
