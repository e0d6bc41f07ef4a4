"""`dynaweb bench learning` and its runs."""

from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.options import AsJson, Quiet


def learning_command(
    out: Annotated[
        Path, typer.Option(help="Folder of its own. The same command again goes on.")
    ] = Path("runs/learning"),
    size: Annotated[str, typer.Option(help="Plan: full or smoke.")] = "full",
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time; changes no result.")] = 1,
    so_far: Annotated[
        bool, typer.Option("--so-far", help="Measure nothing: tell what is measured until now.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of the plan."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(metavar="PAGE.md", help="Write the numbers into a page, between its marks."),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Measure real success against live steps spent: training in dreams, at real pages, on demonstrations alone.

    Ends with 1 where something of the plan is not measured yet.
    """
    from dynaweb.cli.learning import bench_learning

    return bench_learning(
        out, size, settings or [], jobs=jobs, so_far=so_far, into=into, as_json=as_json, quiet=quiet
    )


def learning_run_command(
    out: Annotated[Path, typer.Option(help="Folder of the measurement.")],
    arm: Annotated[str, typer.Option(help="Arm of the run.")],
    seed: Annotated[int, typer.Option(help="Of the run.")],
    size: Annotated[str, typer.Option(help="full or smoke.")] = "full",
    settings: Annotated[list[str] | None, typer.Option("--set")] = None,
    quiet: Quiet = False,
) -> None:
    """One run of `bench learning`, which starts it as a process of its own."""
    from dynaweb.cli.learning import bench_one

    bench_one(out, size, settings or [], arm, seed, quiet=quiet)
