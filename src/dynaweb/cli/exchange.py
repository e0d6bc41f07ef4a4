"""`dynaweb import` and `dynaweb export`: trajectories from other tools' files, and into them."""

import json
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.dataset.imports.formats import Format
from dynaweb.records.trajectory import Behaviour

License = Annotated[
    str,
    typer.Option(
        help="Licence of the pages (SPDX name), where the file does not say; export refuses pages without one."
    ),
]


def import_command(
    sources: Annotated[list[Path], typer.Argument(help="Files of any known format.")],
    out: Annotated[Path, typer.Option(help="JSON lines file of trajectories to write.")],
    format: Annotated[
        Format | None, typer.Option(help="Whose files they are; told from each file otherwise.")
    ] = None,
    license: License = "",
    origin: Annotated[
        str, typer.Option(help="Public name of the source, for cards and reports.")
    ] = "",
    behaviour: Annotated[Behaviour, typer.Option(help="Who chose the actions.")] = Behaviour.AGENT,
    policy: Annotated[str, typer.Option(help="Name of the policy that chose them.")] = "",
    skip_damaged: Annotated[
        bool,
        typer.Option(
            "--skip-damaged",
            help="Go on past a damaged line; without, what stands before it is kept.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Read other tools' trajectory files; say what was kept, what is odd and what was left out."""
    from dataclasses import asdict

    from dynaweb.dataset.imports.recorded import Provenance
    from dynaweb.dataset.imports.run import ImportWish, import_files
    from dynaweb.dataset.imports.tally import told

    wish = ImportWish(
        sources=tuple(sources),
        out=out,
        format=format,
        known=Provenance(license=license, origin=origin, policy=policy, behaviour=behaviour),
        skip_damaged=skip_damaged,
    )
    tally = import_files(wish)
    if as_json:
        print(json.dumps(asdict(tally), indent=1))
        return
    print(
        f"{out}: {tally.trajectories} trajectories, {tally.steps} steps, {tally.transitions} transitions from {tally.rows} rows"
    )
    for title, counts in (("kept, but odd:", tally.noted), ("left out:", tally.dropped)):
        if counts:
            print(title, *told(counts, tally.first), sep="\n")
