"""`dynaweb convert`: a page from one written form into another, saying whether that form gives it back."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.axtree.views.convert import ONE_WAY, Converted, Form, convert, read_page
from dynaweb.cli.files import read_text
from dynaweb.cli.saying import say, spelt
from dynaweb.errors import DynawebError, UserError
from dynaweb.runs.atomic import writing


def convert_command(
    file: Annotated[
        Path,
        typer.Argument(
            help="A file with one page: an accessibility tree of any dialect, or HTML or XML that this command wrote."
        ),
    ],
    to: Annotated[Form, typer.Option(help="The form to write.")],
    source: Annotated[
        Form | None, typer.Option("--from", help="The form of FILE; found out by default.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write; standard output otherwise.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The page and the facts as one JSON object.")
    ] = False,
) -> None:
    """Write a page in another form: HTML, XML, Markdown, a Playwright snapshot, plain English, or another tool's dialect.

    The page goes to standard output or --out. A line on standard error says whether the form reads back as exactly the same page.
    """
    if source in ONE_WAY:
        raise UserError(
            f"--from {source.value}: nothing reads this form back; it is for reading only"
        )
    if as_json and out is not None:
        raise UserError("--json goes to standard output: leave --out away, or redirect it")
    if out is not None and out.exists() and file.exists() and out.samefile(file):
        raise UserError(f"--out {str(out)!r} is the page itself: choose another file")
    try:
        made = convert(read_page(read_text(file), source), to)
    except DynawebError as error:
        raise (
            error if isinstance(error, UserError) else UserError(f"{str(file)!r}: {error}")
        ) from error
    if as_json:
        facts = {"form": to.value, "lines": made.lines, "exact": made.exact, "differing": made.differing, "lost": made.lost, "text": made.text}  # fmt: skip
        print(json.dumps(facts, indent=1))
        return
    if out is not None:
        with writing(out) as written:
            written.write(made.text + "\n")
    elif sys.stdout.isatty():
        say(made.text)
    else:
        print(spelt(made.text))
    print(f"{to.value}: {_verdict(made)}", file=sys.stderr)


def _verdict(made: Converted) -> str:
    if made.exact is None:
        return "one way, for reading only: nothing reads it back"
    if made.exact:
        return f"reads back exactly, all {made.lines} lines"
    lost = ", ".join(f"{name} in {count}" for name, count in made.lost.items())
    return f"does NOT read back exactly: {made.differing} of {made.lines} lines differ" + (
        f" ({lost})" if lost else ""
    )
