"""`dynaweb serve`: models of this machine for its other programs, until Ctrl-C."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.serve.config import ServeConfig

serve_app = typer.Typer(
    help="Serve a model to the programs of this machine, until Ctrl-C.", no_args_is_help=True
)

Host = Annotated[str, typer.Option(help="Loopback address to listen at; others are refused.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")]
Threads = Annotated[
    int, typer.Option(min=0, help="CPU threads of the model; 0 leaves them to torch.")
]


@serve_app.callback()
def _serve() -> None:
    # one command alone would become the app itself
    pass


@serve_app.command("chat")
def chat_command(
    model: Annotated[
        Path, typer.Option(help="Folder of a Hugging Face chat model, or a .gguf file.")
    ],
    host: Host = "127.0.0.1",
    port: Port = 8000,
    threads: Threads = 0,
    max_batch: Annotated[int, typer.Option(min=1, help="Requests answered together.")] = 16,
    max_new_tokens: Annotated[
        int, typer.Option(min=1, help="Longest reply where a request does not say, tokens.")
    ] = 1024,
) -> None:
    """Serve a local chat model with OpenAI's interface: chat completions, models, log-probabilities."""
    config = ServeConfig(host=host, port=port, max_batch=max_batch, max_new_tokens=max_new_tokens)
    from dynaweb.lm.localchat import load_chat
    from dynaweb.serve.chat import chat_app
    from dynaweb.serve.loopback import run_server

    _use_threads(threads)
    print(f"reading {model}", file=sys.stderr, flush=True)
    local = load_chat(model)
    run_server(
        chat_app(local, config),
        config,
        lambda url: print(f"{url}/v1  model {local.name}  (Ctrl-C stops)", flush=True),
    )


@serve_app.command("sampler")
def sampler_command(
    model: Annotated[Path, typer.Option(help="Folder of a policy: any Hugging Face causal LM.")],
    updates: Annotated[
        Path | None,
        typer.Option(
            help="Folder that new weights may be loaded from (`gspo train --sampler` puts them there); none are without it."
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="What the policy is called; its folder's name.")] = "",
    host: Host = "127.0.0.1",
    port: Port = 8000,
    threads: Threads = 0,
    max_batch: Annotated[int, typer.Option(min=1, help="Requests answered together.")] = 64,
) -> None:
    """Serve a policy in token ids, as vLLM's server does, with adapters and new weights: for `dynaweb gspo train --sampler`."""
    config = ServeConfig(host=host, port=port, max_batch=max_batch)
    from dynaweb.lm.localpolicy import LocalPolicy
    from dynaweb.serve.loopback import run_server
    from dynaweb.serve.sampler import sampler_app

    _use_threads(threads)
    print(f"reading {model}", file=sys.stderr, flush=True)
    policy = LocalPolicy(model, name or model.resolve().name, updates=updates)
    run_server(
        sampler_app(policy, config),
        config,
        lambda url: print(f"{url}/v1  policy {policy.name}  (Ctrl-C stops)", flush=True),
    )


@serve_app.command("world")
def world_command(
    model: Annotated[
        str,
        typer.Option(help="Folder of a trained world model, or of a run that has one; or copy."),
    ],
    host: Host = "127.0.0.1",
    port: Port = 8001,
    threads: Threads = 0,
    max_batch: Annotated[int, typer.Option(min=1, help="Questions answered together.")] = 64,
    max_steps: Annotated[
        int, typer.Option(min=1, max=100, help="Actions before a dream is cut.")
    ] = 5,
) -> None:
    """Serve a world model: predictions, and dreams as Environments over HTTP (docs/endpoints.md)."""
    config = ServeConfig(host=host, port=port, max_batch=max_batch)
    import torch

    from dynaweb.dream.config import DreamConfig
    from dynaweb.recipes.worldspecs import open_world
    from dynaweb.serve.loopback import run_server
    from dynaweb.serve.world import world_app

    print(f"reading {model}", file=sys.stderr, flush=True)
    opened = open_world(model, (), threads=threads or torch.get_num_threads())
    dream = DreamConfig(max_steps=max_steps, show_goal=opened.shows_goal)
    run_server(
        world_app(opened.world, dream, config),
        config,
        lambda url: print(f"{url}/v1  world {opened.world.version}  (Ctrl-C stops)", flush=True),
    )


def _use_threads(threads: int) -> None:
    import torch

    if threads:
        torch.set_num_threads(threads)
