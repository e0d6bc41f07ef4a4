"""Where a call begins and ends in text, and what its arguments are: tokens only, nothing is evaluated.

One pass over the text, so that no input takes more than linear time, and a small set of tokens (names,
numbers, strings, brackets), so that what reaches Python's own literal reader is never deep or odd.
"""

import re
from dataclasses import dataclass

from dynaweb.errors import ActionError

MAX_DEPTH = 8
"""Brackets inside brackets; an action has two."""

_TRIPLE = r"'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\""
_STRING = rf"[rRuU]?(?:{_TRIPLE}|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
_LOOSE_STRING = rf"[rRuU]?(?:{_TRIPLE}|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_REST = r"(?P<open>[(\[])|(?P<close>[)\]])|(?P<comma>,)|(?P<other>\s+|#[^\n]*|=|[\w.+-]++(?!['\"]))"
_TOKEN = re.compile(rf"(?P<string>{_STRING})|{_REST}", re.DOTALL)
_LOOSE_TOKEN = re.compile(rf"(?P<string>{_LOOSE_STRING})|{_REST}", re.DOTALL)
_HEAD = re.compile(r"\s*([A-Za-z_][\w.]*)?\s*\(")
_SPACE = re.compile(r"(?:\s+|#[^\n]*)*")
_CLOSING = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class CallText:
    """A call as it is written."""

    name: str
    arguments: tuple[str, ...]
    """Text of each argument, blanks and comments round it left out."""
    end: int
    """Where the text goes on after the closing bracket."""


def scan_call(text: str, start: int = 0, *, line_breaks: bool = False) -> CallText:
    """Find the call that begins at `start`.

    Args:
        text: anything.
        start: where the name, or blanks before it, begin.
        line_breaks: let a string in single quotes run over lines, as models write them.

    Raises:
        ActionError: no call begins there, it does not end, or it is nested too deeply.
    """
    head = _HEAD.match(text, start)
    if head is None:
        raise ActionError(_told(text, start))
    token = _LOOSE_TOKEN if line_breaks else _TOKEN
    at = begun = head.end()
    wanted = [")"]
    arguments: list[str] = []
    while wanted:
        found = token.match(text, at)
        if found is None:
            raise ActionError(_told(text, start))
        kind = found.lastgroup
        if kind == "open":
            wanted.append(_CLOSING[found[0]])
            if len(wanted) > MAX_DEPTH:
                raise ActionError("action nested too deeply")
        elif kind == "close" and found[0] != wanted.pop():
            raise ActionError(_told(text, start))
        if (kind == "comma" and len(wanted) == 1) or not wanted:
            arguments.append(_stripped(text[begun : found.start()]))
            begun = found.end()
        at = found.end()
    if arguments[-1] == "":  # nothing between the brackets, or a comma before the last one
        arguments.pop()
    return CallText(name=head[1] or "", arguments=tuple(arguments), end=at)


def skip_space(text: str, start: int) -> int:
    """Where the text goes on after blanks, line ends and comments."""
    found = _SPACE.match(text, start)
    return start if found is None else found.end()


def _stripped(argument: str) -> str:
    return argument[skip_space(argument, 0) :].rstrip()


def _told(text: str, start: int) -> str:
    return f"not an action: {text[start : start + 80]!r}; write one call such as click('12')"
