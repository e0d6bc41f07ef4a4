"""Where an action may stand in a reply: fences, code, lines of its own, after "the next action is".

Text that the reply only repeats (lines of a page, the prompt's headers, the previous action) is blanked
first, so that nothing a page says is taken for a reply. Everything is found in one pass; nothing nests.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from dynaweb.agent.piece import NAMES
from dynaweb.errors import ActionError
from dynaweb.records.calltext import scan_call

LEAD_CHARS = 160
"""How far before a piece its announcement may begin."""

PHRASE_CHARS = 2000
"""Longest action without marks around it."""

_NODE = r"^[ \t]*(?:\[\w+\][ \t]+\w+|StaticText|RootWebArea)[ \t]+"
_ECHO = re.compile(
    rf"{_NODE}(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")[^\n]*|{_NODE}['\"][^\n]*"
    r"|^[ \t]*(?:OBSERVATION|URL|OBJECTIVE|Tab \d+(?: \(current\))?):[^\n]*"
    r"|^[ \t]*(?:PREVIOUS|Previous|previous) (?:ACTION|Action|action)[Ss]?:[^\n]*",
    re.MULTILINE | re.DOTALL,
)
_PREVIOUS = re.compile(r"^[ \t]*PREVIOUS ACTIONS?:([^\n]*)", re.MULTILINE | re.IGNORECASE)
_ANNOUNCED = (
    r"\b(?:next|following|correct|corrected|best|new|this|the|my) action\b[^.\n`\"]{0,80}?"
    r"(?:\b(?:is|be|as)\b|:)"
)
_ANNOUNCES = re.compile(rf"{_ANNOUNCED}[\s:>*-]*[\"\u201c(]?$", re.IGNORECASE)
_PHRASE = re.compile(
    rf"{_ANNOUNCED}[ \t:*]*(?P<quote>[\"'\u201c]?)(?=(?:{NAMES})\b)", re.IGNORECASE
)
_LINE = re.compile(
    rf"^[ \t>*-]*(?:\d+[.)][ \t]+)?(?=(?:{NAMES})(?:[ \t]*\[|[ \t]*\(|[ \t]*$))", re.MULTILINE
)
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the reply that may be its action."""

    text: str
    start: int
    """Where it, with its marks, begins in the reply."""
    announced: bool = False
    """The reply says just before it that this is the next action."""
    quoted: bool = False
    """It stands inside double quotes: somebody else's words."""


def blank_echoes(text: str) -> str:
    """The reply with what it repeats of the prompt blanked; as long as it was."""
    return _ECHO.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def fences(text: str) -> list[Piece]:
    """What stands between three backticks or more; an unclosed fence ends with the reply."""
    runs = [m.span() for m in _TICKS.finditer(text) if len(m[0]) >= 3]
    closing = [start for start, _ in runs[1::2]] + [len(text)] * (len(runs) % 2)
    return _pieces(text, [(*run, end) for run, end in zip(runs[::2], closing, strict=True)])


def gaps(text: str) -> list[Piece]:
    """What follows each run of backticks, for replies whose fences do not pair."""
    runs = [m.span() for m in _TICKS.finditer(text) if len(m[0]) >= 3]
    return _pieces(text, [(*a, b[0]) for a, b in pairwise(runs)])


def codes(text: str) -> list[Piece]:
    """What stands between one or two backticks on one line."""
    found: list[tuple[int, int, int]] = []
    opened: tuple[int, int] | None = None
    for run in _TICKS.finditer(text):
        if len(run[0]) >= 3:
            opened = None
        elif opened is not None and "\n" not in text[opened[1] : run.start()]:
            found.append((*opened, run.start()))
            opened = None
        else:
            opened = run.span()
    return _pieces(text, found)


def lines(text: str) -> Iterator[Piece]:
    """Lines that begin as an action does; a call may run over several."""
    done = 0
    for found in _LINE.finditer(text):
        at = found.end()
        if at < done:
            continue
        end = _line_end(text, at)
        with contextlib.suppress(ActionError):  # where no call ends, the line is all there is
            end = max(end, _line_end(text, scan_call(text, at, line_breaks=True).end))
        done = end
        yield Piece(text[at:end], at)


def phrases(text: str) -> Iterator[Piece]:
    """What follows "the next action is" without any marks."""
    for found in _PHRASE.finditer(text):
        at = found.end()
        end = _line_end(text, at)
        try:
            end = scan_call(text, at).end
        except ActionError:
            if found["quote"]:
                closing = {"\u201c": "\u201d"}.get(found["quote"], found["quote"])
                close = text.find(closing, at, end)
                end = close if close >= 0 else end
        yield Piece(text[at : min(end, at + PHRASE_CHARS)], at, announced=True)


def previous(text: str) -> list[Piece]:
    """Fences on the line of the previous action: models echo the prompt and write their action there."""
    return [
        Piece(p.text, found.start() + p.start, p.announced)
        for found in _PREVIOUS.finditer(text)
        for p in fences(found[1])
        if p.announced
    ]


def _pieces(text: str, places: Iterable[tuple[int, int, int]]) -> list[Piece]:
    """Pieces from where their marks begin and end, and where they end themselves.

    A place is inside quotes when an odd number of them stands before it on its line; one that opens
    the line may hold the whole reply and does not count.
    """
    found: list[Piece] = []
    at = quotes = 0
    for start, begin, end in places:
        _, newline, tail = text[at:start].rpartition("\n")
        line = tail.lstrip().removeprefix('"') if newline or at == 0 else tail
        marks = line.count('"') + line.count("\u201c") - line.count("\u201d")
        quotes = marks if newline else quotes + marks
        lead = text[max(0, start - LEAD_CHARS) : start]
        announced = _ANNOUNCES.search(lead) is not None
        found.append(Piece(text[begin:end], start, announced, quoted=quotes % 2 == 1))
        at = end
    return found


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
