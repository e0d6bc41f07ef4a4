"""`dynaweb world study`: the flags, the run, and what is told of it."""

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.endings import FAILED, OK, complain
from dynaweb.cli.options import AsJson, Quiet
from dynaweb.cli.saying import say


def study_command(
    out: Annotated[
        Path, typer.Option(help="Run folder. The same command again goes on where it stopped.")
    ] = Path("runs/fidelity"),
    seed: Annotated[int | None, typer.Option(help="Seed of the whole run.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a setting; `dynaweb settings --size fidelity` lists them. May be repeated.",
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(metavar="PAGE.md", help="Write the numbers into a page, between its marks."),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Measure a small world model and its judge at full strength: collect, train, measure on unseen MiniWoB++ pages.

    Ends with 1 where a goal is missed.
    """
    from dynaweb.cli.sections import require_section, write_section
    from dynaweb.cli.train import chosen
    from dynaweb.recipes.config import MAY_DIFFER
    from dynaweb.runs.folder import check_folder, require_free

    config = chosen("fidelity", ("fidelity",), seed, settings or [])
    known = check_folder(out, config=config, seed=config.seed, may_differ=MAY_DIFFER)
    require_free(out)
    if known and not quiet:
        complain(f"going on with the run in {str(out)!r}", OK)

    from dynaweb.cli.drawing import drawing
    from dynaweb.cli.world_study_told import BEGIN, END, lines
    from dynaweb.recipes.worldstudy import missed, study_world

    if into is not None:
        require_section(into, BEGIN, END)
    with drawing(quiet=quiet) as progress:
        study = study_world(config, out, progress, tuple(sys.argv))
    short = missed(study)
    if into is not None:
        command = shlex.join(["dynaweb", *sys.argv[1:]])
        write_section(into, BEGIN, END, [f"Measured with `{command}`.", "", *lines(study, short)])
    if as_json:
        say(json.dumps({**asdict(study), "missed": short}, indent=1))
    else:
        say("\n".join(lines(study, short, markdown=False)))
    return FAILED if short else OK
