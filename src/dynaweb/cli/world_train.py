"""`dynaweb world train`: a world model from files, on one process or as many as `torchrun` starts."""

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dynaweb.cli.options import AsJson, Quiet, Threads
from dynaweb.cli.ranks import LORA_RANK, AdapterOnly, Lora, Sharding, ranks_here
from dynaweb.cli.saying import say
from dynaweb.errors import UserError

if TYPE_CHECKING:
    from dynaweb.world.tuning.run import TuningResult
    from dynaweb.world.tuning.settings import TuningConfig


def train_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Trajectories of any known format, or rows of `dynaweb world data` (a file, or a folder of them)."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write. The same command again goes on where it stopped."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a Hugging Face causal LM to begin from; from scratch otherwise."
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="Settings: small, finetune, webworld, dynaweb, word2world. small from scratch, finetune with --model otherwise."
        ),
    ] = "",
    form: Annotated[
        str,
        typer.Option(
            help="What the model writes, of trajectories: patch, full or nl. Rows say it themselves."
        ),
    ] = "",
    stage2: Annotated[
        list[Path] | None,
        typer.Option(
            "--stage2",
            metavar="FILE",
            help="Rows of the second stage: of each the last turn is learnt.",
        ),
    ] = None,
    lora: Lora = False,
    adapter_only: AdapterOnly = False,
    sharding: Sharding = "ddp",
    cpu: Annotated[bool, typer.Option("--cpu", help="Leave a GPU alone.")] = False,
    threads: Threads = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a setting; --show-preset lists them. May be repeated.",
        ),
    ] = None,
    show_preset: Annotated[
        bool,
        typer.Option(
            "--show-preset", help="Print the settings with their values and sources, and stop."
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train a world model: any form, from scratch or pretrained, whole or adapters, in one or two stages."""
    asked = Asked(
        preset=preset or ("small" if model is None else "finetune"),
        form=form,
        lora=lora,
        settings=tuple(settings or ()),
    )
    config = asked.config()
    if show_preset:
        _show(asked, config, as_json=as_json)
        return
    if not files or out is None:
        raise UserError(
            "dynaweb world train needs FILES and --out DIR (see dynaweb world train --help)"
        )

    import torch

    from dynaweb.cli.drawing import drawing
    from dynaweb.world.tuning.run import TuningWish, tune

    if threads:
        torch.set_num_threads(threads)
    ranks = ranks_here(sharding)
    wish = TuningWish(
        sources=tuple(files),
        out=out,
        config=config,
        model=model,
        stage2=tuple(stage2 or ()),
        merge=not adapter_only,
        cpu=cpu,
    )
    with drawing(quiet=quiet or ranks.rank > 0) as progress:
        result = tune(wish, ranks=ranks, progress=progress, argv=tuple(sys.argv))
    if ranks.rank == 0:
        say(json.dumps(result.facts(), indent=1) if as_json else "\n".join(_told(result, wish.out)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The flags that make a configuration."""

    preset: str
    form: str
    lora: bool
    settings: tuple[str, ...]

    def config(self) -> "TuningConfig":
        """The preset with every flag applied.

        Raises:
            UserError: no such preset, form or setting.
        """
        from dynaweb.cli.settings import override
        from dynaweb.lm.config import AdapterConfig
        from dynaweb.world.tuning.presets import preset

        found = preset(self.preset).config
        if self.lora:
            found = replace(found, adapters=AdapterConfig(rank=LORA_RANK))
        given = [f"form={self.form}"] if self.form else []
        return override(found, [*given, *self.settings], "dynaweb world train --show-preset")


def _show(asked: Asked, config: "TuningConfig", *, as_json: bool) -> None:
    from dynaweb.cli.settings import settings_of
    from dynaweb.runs.folder import plain
    from dynaweb.world.tuning.presets import preset

    base = preset(asked.preset)
    before = {s.key: s.value for s in settings_of(base.config)}
    rows = [
        (s, base.source(s.key) if s.value == before[s.key] else "command line")
        for s in settings_of(config)
    ]
    if as_json:
        print(
            json.dumps(
                [
                    {"key": s.key, "value": plain(s.value), "source": source, "doc": s.doc}
                    for s, source in rows
                ],
                indent=1,
            )
        )
        return
    say(f"{asked.preset}: {base.about}")
    for s, source in rows:
        say(f"{s.key} = {plain(s.value)}    ({source})\n    {s.doc}")


def _told(result: "TuningResult", out: Path) -> list[str]:
    """The result, for people."""
    share = result.trained_parameters / max(result.parameters, 1)
    lines = [
        f"{out}: a {result.form} world model of {result.parameters:,} parameters, {result.trained_parameters:,} of them trained ({share:.1%}), on {result.ranks} rank{'s'[: result.ranks > 1]}"
    ]
    for stage in result.stages:
        m, done = stage.material, stage.fit
        lines.append(
            f"{stage.name}: {m.rows_in} rows in, {len(m.examples)} trained, {sum(m.dropped.values())} left out; "
            f"{done.steps} steps, loss {done.loss:.4f}, {done.tokens:,} tokens in {done.elapsed_sec:.0f} s"
        )
        lines += [
            f"  left out: {n} {reason} (first: {m.first[reason]})"
            if reason in m.first
            else f"  left out: {n} {reason}"
            for reason, n in m.dropped.items()
        ]
        lines += [f"  too long: {name}, the limit is {m.limit_tokens}" for name in m.too_long[:5]]
        lines += [f"  {name}: {n}" for name, n in m.counts.items() if n]
        if done.damaged:
            lines.append(f"  damaged checkpoints set aside: {', '.join(done.damaged)}")
    return lines
