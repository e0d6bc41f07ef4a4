"""Predictions on disk: each is asked once, however often the measurement is killed and run again.

A line is found again by a checksum of model, question and truth, so an answer of another model, another
setting or another page is never taken for this one.
"""

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dynaweb.contracts import Imagine, Prediction, WorldModel
from dynaweb.errors import SamplerError, StorageError
from dynaweb.records.fieldcodec import codec_for
from dynaweb.runs.jsonl import JsonlWriter, read_prefix
from dynaweb.runs.progress import Progress

BATCH = 16
"""Questions asked together, and at most so many lost by a kill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, and the name under which its answer is kept."""

    key: str
    question: Imagine


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model said."""

    prediction: Prediction
    seconds: float
    """Wall clock of its batch, divided by the questions in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A world model, and what tells it from every other."""

    name: str
    """As the caller named it; unique in a measurement."""
    world: WorldModel
    checksum: str
    """Changes whenever an answer might: weights, settings, known transitions."""
    shows_goal: bool = False
    """It is told the goal."""


def answer_key(model: Measured, checksum: str, purpose: str) -> str:
    """The name of an answer.

    Args:
        model: who is asked.
        checksum: of the transition.
        purpose: `step`, or what was changed about the question.
    """
    parts = "\x1f".join((model.checksum, str(model.shows_goal), checksum, purpose))
    return hashlib.sha256(parts.encode()).hexdigest()


def ask_all(
    model: Measured, asked: Sequence[Asked], path: Path, progress: Progress
) -> dict[str, Answer]:
    """Answers by key; those that `path` holds are not asked again, and those that the model could not give are not kept.

    Raises:
        StorageError: the file is damaged, or cannot be written.
        SamplerError: the model itself failed, or gave no answer to a whole batch; the same call goes on where this one stopped.
    """
    stage = f"ask {model.name}"
    with JsonlWriter(path, sync=False) as out:
        known = read_answers(path)
        found = {a.key: known[a.key] for a in asked if a.key in known}
        missing = [a for a in _once(asked) if a.key not in found]
        done = len(asked) - len(missing)
        progress(stage, done, len(asked))
        for first in range(0, len(missing), BATCH):
            batch = missing[first : first + BATCH]
            begun = time.perf_counter()
            said = model.world.predict([a.question for a in batch])
            seconds = (time.perf_counter() - begun) / len(batch)
            answers = [Answer(prediction=p, seconds=seconds) for p in said]
            new = {a.key: one for a, one in zip(batch, answers, strict=True)}
            out.extend(_line(k, a) for k, a in new.items() if not a.prediction.unanswered)
            _require_some(model, answers)
            found |= new
            done += len(batch)
            progress(stage, done, len(asked))
    return found


def _require_some(model: Measured, answers: Sequence[Answer]) -> None:
    asked = [a.prediction for a in answers if not a.prediction.by_rule]
    if asked and all(p.unanswered for p in asked):
        raise SamplerError(
            f"world model {model.name!r} gave no answer to {len(asked)} question(s) in a row: {asked[0].raw_text[:200]}; the same command goes on from here"
        )


def read_answers(path: Path) -> dict[str, Answer]:
    """Every whole line of a file of answers.

    Raises:
        StorageError: a line is something else.
    """
    codec = codec_for(Answer)
    found: dict[str, Answer] = {}
    for number, line in enumerate(read_prefix(path).lines, start=1):
        body = json.loads(line)
        answer = codec.decode(body.get("answer"), f"{path}: line {number}")
        if not isinstance(body.get("key"), str) or not isinstance(answer, Answer):
            raise StorageError(f"{path}: line {number} has no key: delete the file and run again")
        found[body["key"]] = answer
    return found


def _line(key: str, answer: Answer) -> str:
    body = {"key": key, "answer": codec_for(Answer).encode(answer)}
    return json.dumps(body, ensure_ascii=True, separators=(",", ":"))


def _once(asked: Iterable[Asked]) -> list[Asked]:
    return list({a.key: a for a in asked}.values())
