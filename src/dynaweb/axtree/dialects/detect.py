"""Which dialect a text is in: the one whose own marks stand on most of its first lines."""

import re
from collections.abc import Sequence

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.axtree.dialects.roles import ROLES
from dynaweb.axtree.dialects.unquoted import begins_unquoted
from dynaweb.errors import TreeError

SAMPLE_LINES = 120
"""Lines that are looked at."""
MAX_HEADER_LINES = 10
"""Lines that a WebArena list of tabs is looked for in."""
SAMPLE_CHARS = 500
"""Of each line, so that one endless line costs nothing."""

_ARIA = re.compile(r"- '?(/?[a-z]+)(?=[ :]|\Z)")
_REF = re.compile(r"\[ref=[A-Za-z0-9]+\]")
_LABEL_OR_MARK = re.compile(
    r"(\[[0-9]+\]: (?:<|\"))|\[[A-Za-z0-9]*\] \[[A-Za-z][A-Za-z0-9_-]*\] \["
)
_QUOTED = re.compile(r"(\[[A-Za-z0-9]+\] )?([A-Za-z][A-Za-z0-9_-]*) ?(['\"])")
_WEBARENA = re.compile(r"['\"] [A-Za-z]+: ")
_WEBARENA_BEGINS = re.compile(r"\s*\[[0-9]+\] (?:RootWebArea|StaticText) ?['\"]")
_BROWSERGYM = re.compile(r"['\"](?:, [A-Za-z]+(?:=|, |\Z)| value=)")
_BROWSERGYM_BEGINS = re.compile(r"\s*(?:RootWebArea|StaticText) ?['\"]")
_WEBARENA_HEADER = re.compile(r"(?:<\|[A-Za-z0-9_]+\|>)?\s*Tab [0-9]+(?: \(current\))?: ")
_COMMA_VALUE = re.compile(r"['\"], value=")
_UPPER = re.compile(r"[A-Z][A-Z0-9]*")


def detect_dialect(text: str) -> Dialect:
    """The dialect of a tree.

    Raises:
        TreeError: no line of it looks like an element.
    """
    sample = [line[:SAMPLE_CHARS] for line in _first_lines(text)]
    votes = [vote for line in sample if (vote := _vote(line)) is not None]
    headed = any(_WEBARENA_HEADER.match(line) for line in sample[:MAX_HEADER_LINES])
    if not votes and not headed:
        first = next((line.strip() for line in sample if line.strip()), "")
        if not first:
            raise TreeError("no tree: it is empty")
        raise TreeError(
            f"no tree: no line looks like an element in any dialect we know; it begins {first[:60]!r}"
        )
    best = Dialect.WEBARENA if headed else max(_VOTED, key=lambda dialect: _standing(votes, dialect))  # fmt: skip
    if best in (Dialect.BROWSERGYM, Dialect.WEBARENA):
        return _quoted_dialect(sample, headed=headed)
    has_refs = best is Dialect.ARIA and any(_REF.search(line) for line in sample)
    return Dialect.ARIA_REF if has_refs else best


_VOTED = (Dialect.BROWSERGYM, Dialect.UNQUOTED, Dialect.ARIA, Dialect.LABELS, Dialect.MARKS)


def _standing(votes: Sequence[Dialect], dialect: Dialect) -> tuple[int, int]:
    """Votes for a dialect; of two with as many the one comes first that was met first."""
    count = votes.count(dialect)
    return count, -votes.index(dialect) if count else 0


def _vote(line: str) -> Dialect | None:
    """The dialect that a line looks most like; the quoted ones are told apart later."""
    body = line.lstrip()
    if body.startswith("- "):
        aria = _ARIA.match(body)
        is_role = aria is not None and (aria.group(1) in ROLES or aria.group(1)[0] in "/t")
        return Dialect.ARIA if is_role else None
    if (quoted := _QUOTED.match(body)) is not None:
        is_element = quoted.group(1) is not None or quoted.group(2) in ROLES
        return Dialect.BROWSERGYM if is_element else None
    if body.startswith("[") and (found := _LABEL_OR_MARK.match(body)) is not None:
        return Dialect.LABELS if found.group(1) else Dialect.MARKS
    # prose has neither indent nor id
    looks = body is not line or body[0] == "[" or body.startswith("RootWebArea")
    return Dialect.UNQUOTED if looks and begins_unquoted(body) else None


def _quoted_dialect(sample: Sequence[str], *, headed: bool) -> Dialect:
    webarena = sum(1 for line in sample if _WEBARENA.search(line) or _WEBARENA_BEGINS.match(line))
    browsergym = sum(1 for line in sample if _BROWSERGYM.search(line) or _BROWSERGYM_BEGINS.match(line))  # fmt: skip
    if headed or webarena > browsergym:
        roles = [found.group(2) for line in sample if (found := _QUOTED.match(line.lstrip()))]
        tags = sum(1 for role in roles if _UPPER.fullmatch(role))
        return Dialect.TAGROLE if 2 * tags > len(roles) else Dialect.WEBARENA
    own = any(_COMMA_VALUE.search(line) for line in sample)
    return Dialect.DYNAWEB if own else Dialect.BROWSERGYM


def _first_lines(text: str) -> list[str]:
    lines: list[str] = []
    at = 0
    while at <= len(text) and len(lines) < SAMPLE_LINES:
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at:stop]
        if line and not line.isspace():
            lines.append(line)
        at = stop + 1
    return lines
