"""`dynaweb bench`: how fast the parts are on this machine."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.saying import say

bench_app = typer.Typer(
    help="Measure how fast the parts are on this machine.", no_args_is_help=True
)


@bench_app.callback()
def _bench() -> None:
    # one command alone would become the app itself
    pass


@bench_app.command("pages")
def pages_command(
    source: Annotated[
        Path | None,
        typer.Argument(help="A recording of any known format; made-up pages otherwise."),
    ] = None,
    against: Annotated[
        bool,
        typer.Option(
            "--against",
            help="Beside difflib, apted and zss on the same pairs; pip install 'dynaweb[bench]'.",
        ),
    ] = False,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of a page and the next one.")] = 60,
    every: Annotated[
        int, typer.Option(min=1, help="Of a recording, every so many-th transition.")
    ] = 1,
    lines: Annotated[int, typer.Option(min=40, help="Lines of a made-up page.")] = 280,
    repeats: Annotated[
        int, typer.Option(min=1, help="Times that reading and growth are measured.")
    ] = 5,
    rival_pairs: Annotated[
        int, typer.Option(min=1, help="Pairs that the alternatives get: they are slow.")
    ] = 6,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Measure reading pages, making state changes and applying them: speed, growth, alternatives."""
    from dynaweb.bench.speed.run import SpeedWish, measure_speed
    from dynaweb.cli.speeds import told
    from dynaweb.dataset.imports.detect import detect
    from dynaweb.dataset.imports.recorded import Provenance
    from dynaweb.dataset.imports.run import read_trajectories
    from dynaweb.dataset.imports.tally import Tally

    wish = SpeedWish(
        lines=lines,
        pairs=pairs,
        every=every,
        repeats=repeats,
        against=against,
        rival_pairs=rival_pairs,
    )
    if source is None:
        report = measure_speed(wish)
    else:
        read = read_trajectories(source, detect(source), Provenance(), Tally())
        report = measure_speed(wish, source.name, read)
    say(json.dumps(asdict(report), indent=1) if as_json else "\n".join(told(report)))
