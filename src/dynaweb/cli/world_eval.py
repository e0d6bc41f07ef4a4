"""`dynaweb world eval`: world models side by side on real transitions. The flags; what they do is in `measuring.py`."""

from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.options import AsJson, Browser, Quiet


def eval_command(
    files: Annotated[
        list[Path], typer.Argument(help="Real trajectories of any known format (`dynaweb import`).")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for answers and report; the same command again goes on.")
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC",
            help="copy, nearest, the folder of a trained world model or its run, or a form and a chat model: full@FOLDER, nl@http://HOST/v1#NAME. May be repeated; copy is always measured.",
        ),
    ] = None,
    train: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="What the models were trained on: nearest knows it, and what is measured must not be in it. May be repeated.",
        ),
    ] = None,
    hold_out: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Instead of --train: measure this share of the tasks, and take the rest as known.",
        ),
    ] = 0.0,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Most transitions; drawn by site, behaviour and task in turn."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the draw, probes and intervals.")] = 0,
    probes: Annotated[
        int, typer.Option(min=0, help="Cases that are probed: blocked actions, swapped goals.")
    ] = 100,
    judge_url: Annotated[
        str, typer.Option(help="OpenAI-compatible server of a judge for replaced pages.")
    ] = "",
    judge_model: Annotated[str, typer.Option(help="Its model.")] = "",
    key_variable: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Environment variable that holds the key of the servers asked."
        ),
    ] = "",
    replay: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK",
            help="MiniWoB++ task: dream in it and do the actions for real, to depth 10. May be repeated.",
        ),
    ] = None,
    replay_pages: Annotated[int, typer.Option(min=1, help="First pages of each such task.")] = 10,
    threads: Annotated[int, typer.Option(min=1, help="Threads of a model on the CPU.")] = 1,
    browser: Browser = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Measure world models: exact changes, gain over copy, probes, replay; one report for all."""
    from dynaweb.cli.measuring import Wish, measure

    wish = Wish(
        files=tuple(files), out=out, models=tuple(model or ()), train=tuple(train or ()), hold_out=hold_out, limit=limit,
        seed=seed, probes=probes, judge_url=judge_url, judge_model=judge_model, key_variable=key_variable,
        replay=tuple(replay or ()), replay_pages=replay_pages, threads=threads, browser=browser,
    )  # fmt: skip
    measure(wish, quiet=quiet, as_json=as_json)
