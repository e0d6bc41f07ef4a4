"""`dynaweb world rlvr`: reinforce a patch model on what really happened."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.options import AsJson, Quiet, Threads
from dynaweb.cli.saying import say


def rlvr_command(
    files: Annotated[list[Path], typer.Argument(help="Trajectories of any known format.")],
    model: Annotated[Path, typer.Option(help="A trained patch model, or a run that has one.")],
    out: Annotated[
        Path,
        typer.Option(help="Folder to write. The same command again goes on where it stopped."),
    ],
    steps: Annotated[int, typer.Option(min=1, help="Batches of questions.")] = 50,
    threads: Threads = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a setting, such as reward=exact, replies=16 or update.kl=0. May be repeated.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Reinforce a patch model: several replies to a real transition, rewarded by the change that really came (RLVR-World)."""
    from dynaweb.cli.settings import override
    from dynaweb.recipes.verifiable import RlvrConfig

    config = override(replace(RlvrConfig(), steps=steps), settings or [])

    import torch

    from dynaweb.cli.drawing import drawing
    from dynaweb.dataset.imports.tally import Tally, told
    from dynaweb.recipes.rlvr import reinforce
    from dynaweb.world.trained import world_folder
    from dynaweb.world.tuning.material import read_attempts
    from dynaweb.world.tuning.rows import files_in

    if threads:
        torch.set_num_threads(threads)
    tally = Tally()
    attempts = read_attempts(files_in(files), tally)
    with drawing(quiet=quiet) as progress:
        result = reinforce(
            world_folder(str(model)), attempts, out, config, progress=progress, argv=tuple(sys.argv)
        )
    if as_json:
        print(json.dumps({**asdict(result), "file_dropped": tally.dropped}, indent=1))
        return
    first, last = result.first, result.last
    say(
        f"{out}: {config.steps} steps; asked about {result.questions} of {result.steps_in} real steps"
    )
    say(
        f"reward {first.reward:.3f} in the first step, {last.reward:.3f} in the last; exact {first.exact_fraction:.1%}, {last.exact_fraction:.1%}; "
        f"invalid {first.invalid_fraction:.1%}, {last.invalid_fraction:.1%} (on training pages: `dynaweb world eval` measures others)"
    )
    for reason, count in sorted(result.dropped.items()):
        say(f"  left out: {count} {reason}")
    for line in told(tally.dropped, tally.first):
        say(f"  left out of the files: {line}")
