"""`dynaweb gspo verl`: what verl's trainer is started with, to train in the same dreams."""

from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.alone import counted, require_folder


def verl_command(
    policy: Annotated[Path, typer.Option(help="Folder of the agent to begin with.")],
    world: Annotated[
        Path, typer.Option(help="Folder of a world model with its judge, or of a run.")
    ],
    experts: Annotated[
        list[Path], typer.Option(help="Real attempts: places to begin. May be repeated.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the files.")],
    max_steps: Annotated[
        int, typer.Option(min=1, max=100, help="Actions before a dream is cut.")
    ] = 5,
    max_new_tokens: Annotated[
        int, typer.Option(min=1, max=4096, help="Longest reply, tokens.")
    ] = 48,
) -> None:
    """Write a dataset of starts and an agent loop for verl, which has never been run with them here (docs/gspo.md)."""
    require_folder(policy, "--policy", holds="config.json")
    require_folder(world, "--world")

    from dynaweb.dream.starts import StartsConfig, collect_starts
    from dynaweb.errors import UserError
    from dynaweb.gspo.readable import readable
    from dynaweb.lm.model import context_length, load_model
    from dynaweb.lm.tokenizer import load_language
    from dynaweb.recipes.alone import read_attempts
    from dynaweb.recipes.verl.files import write_verl_files
    from dynaweb.world.trained import world_folder

    folder = world_folder(str(world))
    read = read_attempts(experts, "places to begin")
    found = collect_starts(read.attempts, StartsConfig())
    points, unread = readable(
        found.points,
        load_language(policy),
        context=context_length(load_model(policy)),
        room=max_new_tokens,
    )
    left = {**read.dropped, **found.dropped, **unread}
    if not points:
        raise UserError(f"no place to begin ({counted(left) or 'none was given'})")
    made = write_verl_files(
        points,
        out,
        policy=policy,
        world=folder,
        max_steps=max_steps,
        max_new_tokens=max_new_tokens,
    )
    print(f"{made.starts}: {made.rows} starts; {made.loop}")
    if any(left.values()):
        print(f"left out: {counted({k: n for k, n in left.items() if n})}")
    print("never run inside verl here; in verl's environment, with dynaweb beside it:")
    print(f"python -m verl.trainer.main_ppo {' '.join(made.overrides())}")
