"""`dynaweb gspo`: on-policy training in dreams, at real pages, or both, without the rest of the demo."""

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dynaweb.cli.alone import Set, overridden, require_elsewhere, require_folder
from dynaweb.cli.options import AsJson, Quiet
from dynaweb.cli.ranks import LORA_RANK, AdapterOnly, Lora, Sharding, ranks_here
from dynaweb.cli.settings import override
from dynaweb.cli.verl_files import verl_command
from dynaweb.errors import UserError

if TYPE_CHECKING:
    from dynaweb.recipes.config import RecipeConfig
    from dynaweb.recipes.gspo_weights import Tuned
    from dynaweb.recipes.sampling import SamplerWish

gspo_app = typer.Typer(
    help="Train a policy with GSPO in dreams, at real pages, or both.", no_args_is_help=True
)

USED = ("gspo.", "browser.", "seed", "live_workers", "live_threads", "threads")
BESIDE = "adapters."
"""How settings of the adapters begin."""
SIDE_BY_SIDE = 256
"""Requests at a sampler at once: its batch is whatever waits there."""


@gspo_app.command("train")
def train_command(
    policy: Annotated[Path, typer.Option(help="Folder of the agent to begin with.")],
    out: Annotated[
        Path, typer.Option(help="Folder of the trained agent. The same command again goes on.")
    ],
    world: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="Folder of a world model with its judge, or of a run that has trained one; or a form and a chat model: nl@FOLDER, full@http://HOST/v1#NAME.",
        ),
    ] = "",
    judge: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="Folder of another trained judge, or chat@TARGET, a chat model; the world model's own unless given.",
        ),
    ] = "",
    answers_count: Annotated[
        bool, typer.Option("--answers-count", help="chat@ judges: an answer can fulfil a task.")
    ] = False,
    experts: Annotated[
        list[Path] | None,
        typer.Option(
            help="Real attempts: places to begin, and demonstrations where an expert made them. May be repeated."
        ),
    ] = None,
    live: Annotated[
        str,
        typer.Option(
            metavar="TASKS",
            help="MiniWoB++ tasks, by commas, to attempt in the real browser: all groups without --world, else "
            "gspo.live.share of these tasks' groups (0.5 unless set).",
        ),
    ] = "",
    held_out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Real attempts that the world model was not trained on, for the gate; its run's own table otherwise."
        ),
    ] = None,
    sampler: Annotated[
        str,
        typer.Option(
            metavar="URL[#NAME]",
            help="vLLM server, or `dynaweb serve sampler`, that samples from the policy and is given every update.",
        ),
    ] = "",
    sampler_weights: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="How updates reach it: adapters, weights (both by folders) or nccl. Adapters where the policy has some, else weights.",
        ),
    ] = "",
    sampler_updates: Annotated[
        Path | None,
        typer.Option(help="Folder for them that the server sees under the same path; OUT/updates."),
    ] = None,
    key_variable: Annotated[
        str,
        typer.Option(metavar="NAME", help="Environment variable that holds the servers' key."),
    ] = "",
    preset: Annotated[
        str, typer.Option(help="small (the demo's), gspo-paper or dynaweb-reported.")
    ] = "small",
    seed: Annotated[int | None, typer.Option(help="Seed of starts, attempts and order.")] = None,
    lora: Lora = False,
    adapter_only: AdapterOnly = False,
    sharding: Sharding = "ddp",
    cpu: Annotated[bool, typer.Option("--cpu", help="Under torchrun: leave GPUs alone.")] = False,
    settings: Set = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a policy on its own attempts, dreamed or live, mixed with experts'."""
    require_elsewhere(out, policy)
    require_folder(policy, "--policy", holds="config.json")
    from dynaweb.world.opening import read_chat_spec

    if world and read_chat_spec(world) is None:
        require_folder(Path(world), "--world")
    if (judge or answers_count) and not world:
        raise UserError("--judge and --answers-count are of dreams: give --world SPEC too")
    if not world and not live:
        raise UserError(
            "nowhere to try: give --world FOLDER to dream in, --live TASKS for real pages, or both"
        )
    beside = [s for s in settings or () if s.strip().startswith(BESIDE)]
    others = [s for s in settings or () if s not in beside]
    config = _configured(preset, seed, others, live, dreams=bool(world))
    tuned = _tuned(beside, lora=lora, adapter_only=adapter_only)
    ranks = ranks_here(sharding)
    at = _sampler(sampler, sampler_weights, sampler_updates, key_variable)

    from dynaweb.cli.drawing import drawing
    from dynaweb.cli.endpoints import chat_opener
    from dynaweb.cli.gspo_told import told
    from dynaweb.recipes.gspo_alone import RESULT, GspoWish, train_gspo_alone
    from dynaweb.runs.jsonfile import read_object

    wish = GspoWish(
        policy=policy,
        world=world or None,
        judge=judge,
        answers_count=answers_count,
        experts=tuple(experts or ()),
        held_out=tuple(held_out or ()),
        sampler=at,
        tuned=tuned,
        cpu=cpu,
    )
    with drawing(quiet=quiet or ranks.rank > 0) as progress, ExitStack() as stack:
        wish = replace(wish, chat=chat_opener(key_variable, stack))
        trained = train_gspo_alone(wish, out, config, progress, tuple(sys.argv), ranks)
    if ranks.rank:
        return
    if as_json:
        print(json.dumps(read_object(out / RESULT), indent=1))
        return
    print("\n".join(told(trained, out)))


def _tuned(settings: list[str], *, lora: bool, adapter_only: bool) -> "Tuned":
    from dynaweb.lm.config import AdapterConfig
    from dynaweb.recipes.gspo_weights import Tuned

    if settings and not lora:
        raise UserError(f"--set {settings[0]}: no adapters are trained; add --lora")
    found = Tuned(adapters=AdapterConfig(rank=LORA_RANK if lora else 0), merge=not adapter_only)
    return override(found, settings, "dynaweb gspo train --help")


def _sampler(
    address: str, way: str, updates: Path | None, key_variable: str
) -> "SamplerWish | None":
    if not address:
        if way or updates is not None:
            raise UserError(
                "--sampler-weights and --sampler-updates are of a sampler: give --sampler URL too"
            )
        return None
    from dynaweb.cli.endpoints import key_of
    from dynaweb.lm.config import EndpointConfig
    from dynaweb.lm.publish import Way
    from dynaweb.recipes.sampling import FIRST, SamplerWish

    if way not in ("", *Way):
        raise UserError(f"--sampler-weights {way!r}: use one of {', '.join(Way)}")
    url, _, name = address.partition("#")
    config = EndpointConfig(
        url=url, model=name or FIRST, key_variable=key_variable, in_flight=SIDE_BY_SIDE
    )
    return SamplerWish(
        config=config, api_key=key_of(config), way=Way(way) if way else None, updates=updates
    )


def _configured(
    preset: str, seed: int | None, settings: list[str], live: str, *, dreams: bool
) -> "RecipeConfig":
    from dynaweb.cli.names import known_task
    from dynaweb.gspo.config import PRESETS
    from dynaweb.recipes.config import RecipeConfig
    from dynaweb.recipes.presets import demo

    known = {"small": lambda: demo().gspo, **PRESETS}
    if preset not in known:
        raise UserError(f"--preset {preset!r}: use one of {', '.join(known)}")
    config = RecipeConfig(name="gspo", tasks=("given",), gspo=known[preset]())
    config = config.with_seed(seed) if seed is not None else config
    config = overridden(config, settings, USED)
    names = [known_task(name.strip()) for name in live.split(",") if name.strip()]
    if names:
        return _with_live_tasks(config, list(dict.fromkeys(names)), dreams=dreams)
    if live:
        raise UserError(f"--live {live!r} names no task: `dynaweb tasks` lists them")
    if config.gspo.live.tasks:
        names = [known_task(name) for name in config.gspo.live.tasks]
        return _with_live_tasks(config, names, dreams=dreams)
    return replace(config, data=replace(config.data, openings=0))


def _with_live_tasks(
    config: "RecipeConfig", tasks: Sequence[str], *, dreams: bool
) -> "RecipeConfig":
    """The configuration with tasks to attempt for real: all groups without dreams, half of them beside dreams.

    A share that was set is kept.
    """
    live = config.gspo.live
    share = live.share or (0.5 if dreams else 1.0)
    gspo = replace(config.gspo, live=replace(live, share=share, tasks=tuple(tasks)))
    data = replace(config.data, openings=live.pages)
    return replace(config, tasks=tuple(tasks), gspo=gspo, data=data)


gspo_app.command("verl")(verl_command)
