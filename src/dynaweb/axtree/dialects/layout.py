"""How a text is set out: header, margin, indent, separator; and its elements, each with its line number."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dynaweb.axtree.dialects.document import Dialect, Layout
from dynaweb.axtree.dialects.header import IS_HEADER

_LABEL_END = re.compile(r"(?<=;)\t(?=\[[0-9]+\]: )")
_MAX_HEADER_LINES = 200
MAX_LAYOUT_LINES = 400
"""Lines that margin and indent are taken from."""


class Piece(NamedTuple):
    """The text of one element, its indent aside."""

    line: int
    """Where it begins, counted from 1."""
    indent: str
    text: str
    """May hold line breaks where the dialect does not escape them."""


class Texts:
    """A text's lines; it is split when the first one is asked for."""

    def __init__(self, body: str) -> None:
        self._body = body
        self._lines: list[str] = []

    def between(self, at: int, end: int) -> str:
        """Lines from one to before another, counted from 0."""
        if not self._lines:
            self._lines = self._body.split("\n")
        return self._lines[at] if end == at + 1 else "\n".join(self._lines[at:end])


def split_header(text: str, is_element: Callable[[str], bool]) -> str:
    """What stands before the first element; where there is none, the lines that a header may have."""
    at = known_to = 0
    is_known = True
    for _ in range(_MAX_HEADER_LINES):
        stop = text.find("\n", at)
        line = text[at : len(text) if stop < 0 else stop]
        if is_element(line.strip(" \t\r")):
            return text[:at]
        at = len(text) if stop < 0 else stop + 1
        is_known = is_known and IS_HEADER.match(line) is not None
        known_to = at if is_known else known_to
        if at == len(text):
            break
    return text[:known_to]


def find_layout(body: str, dialect: Dialect) -> Layout:
    """The layout of a tree without its header."""
    if dialect is Dialect.LABELS:
        tabbed = _LABEL_END.search(body) is not None
        return Layout(separator="\t" if tabbed else "\n", ending=_ending(body))
    crlf = body.count("\r\n")
    separator = "\r\n" if crlf and crlf == body.count("\n") else "\n"
    first = body.split(separator, MAX_LAYOUT_LINES)[:MAX_LAYOUT_LINES]
    leads = [
        line[: len(line) - len(text)]
        for line in first
        if (text := line.lstrip(" \t")) and not text.isspace()
    ]
    margin = leads[0] if leads and body.lstrip().startswith(("RootWebArea", "[", "- ")) else ""
    if not all(lead.startswith(margin) for lead in set(leads)) or not _has_root(body, dialect):
        margin = ""
    indent = _indent(leads, len(margin))
    return Layout(indent=indent, margin=margin, separator=separator, ending=_ending(body))


def split_pieces(
    body: str, layout: Layout, first_line: int, begins: Callable[[str], bool] | None
) -> Iterator[tuple[int, str, str]]:
    """The elements of a tree without header and ending, as the parts of a `Piece`.

    Args:
        body: the text.
        layout: as found.
        first_line: number of the text's first line.
        begins: whether a line begins an element; it goes on with the one before otherwise.
    """
    if layout.separator == "\t":
        number = first_line
        for text in _LABEL_END.split(body):
            yield number, "", text
            number += text.count("\n")
        return
    if begins is None:
        for number, line in enumerate(body.split(layout.separator), start=first_line):
            text = line.lstrip(" \t")
            yield number, line[: len(line) - len(text)], text
        return
    held: list[str] = []
    held_at, held_lead = first_line, ""
    exact: dict[str, bool] = {}
    for number, line in enumerate(body.split(layout.separator), start=first_line):
        text = line.lstrip(" \t")
        lead = line[: len(line) - len(text)]
        if lead not in exact:
            exact[lead] = depth_of(lead, layout)[1]
        # in the dialects whose names hold raw line breaks: exactly indented, and shaped like an element
        is_new = exact[lead] and (lead != "" or line.startswith("[")) and begins(text)
        if held and not is_new:
            held.append(line)
            continue
        if held:
            yield held_at, held_lead, layout.separator.join(held)
        held, held_at, held_lead = [text], number, lead
    yield held_at, held_lead, layout.separator.join(held)


def depth_of(indent: str, layout: Layout) -> tuple[int, bool]:
    """Depth that an indent stands for, and whether the layout would write that indent for it."""
    inner = indent[len(layout.margin) :]
    if layout.indent == "\t":
        depth = inner.count("\t") + inner.count(" ") // 8
    else:
        depth = inner.count("\t") + inner.count(" ") // len(layout.indent)
    return depth, layout.margin + layout.indent * depth == indent


def _ending(body: str) -> str:
    return body[len(body.rstrip("\r\n")) :]


def _has_root(body: str, dialect: Dialect) -> bool:
    """Whether the first line is the page itself, so that its indent is a margin, not depth."""
    first = body[: body.find("\n")] if "\n" in body else body
    return dialect in (Dialect.ARIA, Dialect.ARIA_REF) or "RootWebArea" in first


def _indent(leads: Sequence[str], margin: int) -> str:
    """A tab, or as many blanks as one level most often adds, after so many characters of margin."""
    first = {"\t": 0, " ": 0}
    for lead, count in Counter(leads).items():
        begin = lead[margin : margin + 1]
        if begin:
            first[begin] += count
    if first["\t"] >= first[" "]:
        return "\t"
    widths = [len(lead) - margin for lead in leads]
    steps = Counter([b - a for a, b in zip([0, *widths], widths, strict=False) if b > a])
    if not steps:
        return "\t"
    return " " * min(steps, key=lambda width: (-steps[width], width))
