"""Measured numbers as tables, and as the part of a Markdown page between two marks."""

from collections.abc import Sequence
from pathlib import Path

from dynaweb.errors import UserError
from dynaweb.runs.atomic import write_text


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool) -> list[str]:
    """Lines of a table, for a page or with columns lined up for a terminal."""
    if markdown:
        body = [f"| {' | '.join(row)} |" for row in (head, *rows)]
        return [body[0], "|" + "---|" * len(head), *body[1:]]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]


def require_section(page: Path, begin: str, end: str) -> str:
    """The text of a page that has both marks, each once; to be looked at before anything is measured.

    Raises:
        UserError: it has not, or cannot be read.
    """
    try:
        text = page.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UserError(f"cannot read {str(page)!r} ({why}): give a Markdown page") from error
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(end) < text.index(begin):
        raise UserError(
            f"{str(page)!r} has no place for the numbers: put the lines {begin!r} and {end!r} there, once"
        )
    return text


def write_section(page: Path, begin: str, end: str, lines: Sequence[str]) -> None:
    """Replace what stands between the marks.

    Raises:
        UserError: the page has no such marks, or cannot be read. StorageError: it cannot be written.
    """
    head, _, rest = require_section(page, begin, end).partition(begin)
    body = "\n".join(lines)
    write_text(page, f"{head}{begin}\n{body}\n{end}{rest.partition(end)[2]}")
