"""`dynaweb agent`: an agent from demonstrations, by itself."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.alone import Set, counted, overridden, require_elsewhere, require_folder
from dynaweb.cli.options import AsJson, Quiet
from dynaweb.errors import UserError

agent_app = typer.Typer(help="Train agents from demonstrations.", no_args_is_help=True)

USED = ("policy.", "world.train.", "seed", "threads")
"""`world.train` decides which words the tokenizer learns beside the agent's own."""


@agent_app.callback()
def _agent() -> None:
    # one command alone would become the app itself
    pass


@agent_app.command("train")
def train_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Attempts of any format that `dynaweb import` reads; successes demonstrate."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the agent. The same command again goes on.")],
    policy: Annotated[
        Path | None,
        typer.Option(help="Folder of an agent to go on from; new weights and tokenizer otherwise."),
    ] = None,
    epochs: Annotated[
        float | None, typer.Option(min=0.01, help="Passes over the demonstrations.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Optimiser steps, instead of --epochs.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of weights and order.")] = None,
    settings: Set = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train an agent on demonstrations: supervised, from nothing or from another agent."""
    if epochs is not None and steps is not None:
        raise UserError("--epochs and --steps both say how long: give one of them")
    require_elsewhere(out, policy)
    if policy is not None:
        require_folder(policy, "--policy", holds="config.json")

    from dynaweb.recipes.config import RecipeConfig
    from dynaweb.recipes.presets import demo

    shipped = demo()
    config = RecipeConfig(
        name="agent", tasks=("given",), policy=shipped.policy, world=shipped.world
    )
    config = config.with_seed(seed) if seed is not None else config
    fit = config.policy.fit
    if steps is not None:
        fit = replace(fit, steps=steps, epochs=None, max_seconds=None)
    elif epochs is not None:
        fit = replace(fit, epochs=epochs, steps=None, max_seconds=None)
    config = replace(config, policy=replace(config.policy, fit=fit))
    config = overridden(config, settings or [], USED)

    from dynaweb.cli.drawing import drawing
    from dynaweb.recipes.agent_alone import train_agent_alone

    with drawing(quiet=quiet) as progress:
        made = train_agent_alone(
            files, out, config, begin=policy, progress=progress, argv=tuple(sys.argv)
        )
    if as_json:
        print(json.dumps(asdict(made), indent=1))
        return
    print(
        f"{out}: {made.examples} examples of {made.attempts - made.failures} demonstrations, "
        f"{made.steps} steps, {made.tokens:,} tokens, {made.seconds:.0f} s; loss {made.loss:.3f} nats a token"
    )
    if made.failures:
        print(f"not demonstrations: {made.failures} of {made.attempts} attempts are no success")
    if made.dropped:
        print(f"left out: {counted(dict(made.dropped))}")
    print(f"next: dynaweb gspo train --policy {out} ...")
