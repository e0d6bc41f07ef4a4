"""`dynaweb inspect`: what a file is, what is odd about it, and the file printed well."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.options import AsJson
from dynaweb.errors import UserError


class Content(StrEnum):
    """What a file may hold."""

    AUTO = "auto"
    TREE = "tree"
    REPLY = "reply"
    TRAJECTORIES = "trajectories"
    ROWS = "rows"


def inspect_command(
    file: Annotated[
        Path,
        typer.Argument(
            help="An accessibility tree of any dialect, a model's reply, or any file that `dynaweb import` reads: trajectories, single transitions; gzip is fine."
        ),
    ],
    content: Annotated[
        Content, typer.Option("--as", help="What the file holds; found out by default.")
    ] = Content.AUTO,
    show: Annotated[
        int | None,
        typer.Option(
            "--show",
            metavar="N",
            help="Print trajectory N step by step; counted from 0, negative from the end, as `dynaweb show -i`.",
        ),
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(
            "--step",
            metavar="K",
            min=1,
            help="Print what step K changed, counted from 1 as they are printed; of trajectory 0 without --show.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a file is and what is odd about it, and print it well.

    Trees: dialect, elements, odd lines. Replies: the actions read, or why there are none. Trajectories: how many, tasks, endings, what is
    odd; one step by step with --show N. A transition (--show N --step K, or a file of one): the change as a coloured diff, as models write it
    and in plain English. Colour needs a terminal, and NO_COLOR turns it off.
    """
    from dynaweb.cli.drawing import drawing_on_terminal
    from dynaweb.cli.inspected.file import Wish, inspect_file
    from dynaweb.cli.saying import say_styled

    if content in (Content.TREE, Content.REPLY, Content.ROWS) and (show, step) != (None, None):
        raise UserError(f"--show and --step are for trajectories, not for --as {content.value}")
    wish = Wish(file=file, content=content.value, show=show, step=step)
    with drawing_on_terminal() as progress:
        told = inspect_file(wish, progress)
        facts, lines = (told.facts(), []) if as_json else ({}, list(told.lines()))
    if as_json:
        print(json.dumps(facts, indent=1))
    else:
        say_styled(lines)
