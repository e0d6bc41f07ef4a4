"""Which of several processes this one is, as torchrun says in the environment."""

import os
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from dynaweb.errors import UserError

if TYPE_CHECKING:
    from dynaweb.train.ranks import Ranks

LORA_RANK = 16
"""Of `--lora`, unless `--set adapters.rank` says another."""

Lora: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--lora",
        help=f"Train adapters (rank {LORA_RANK}, or --set adapters.rank) and no other weights.",
    ),
]
AdapterOnly: TypeAlias = Annotated[
    bool,
    typer.Option("--adapter-only", help="With --lora: write the adapters, and no merged model."),
]
Sharding: TypeAlias = Annotated[
    str, typer.Option(help="Under torchrun: ddp (every rank holds the model) or fsdp (a part).")
]


def ranks_here(sharding: str) -> "Ranks":
    """Who this process is.

    Raises:
        UserError: numbers that cannot be.
    """
    from dynaweb.train.ranks import Ranks

    said = {}
    for field, name in (("rank", "RANK"), ("world", "WORLD_SIZE"), ("local", "LOCAL_RANK")):
        text = os.environ.get(name, "1" if field == "world" else "0")
        if not text.isdigit():
            raise UserError(f"environment variable {name} is {text!r}: start ranks with torchrun")
        said[field] = int(text)
    return Ranks(**said, sharding=sharding)  # type: ignore[arg-type]  # checked by the record
