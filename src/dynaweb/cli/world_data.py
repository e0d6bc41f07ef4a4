"""`dynaweb world data`: trajectories into training data of world models. The flags; what they do is in `datamaking.py`."""

from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.options import AsJson, Quiet
from dynaweb.dataset.imports.formats import Format
from dynaweb.errors import UserError


def data_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Trajectories of any known format (`dynaweb import`)."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write; the same command again goes on where it stopped."),
    ] = None,
    preset: Annotated[str, typer.Option(help="default, webworld or dynaweb.")] = "default",
    form: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORM",
            help="patch, full, nl or condensed; the preset's otherwise. May be repeated.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a setting; --list-settings lists them. May be repeated.",
        ),
    ] = None,
    list_settings: Annotated[
        bool, typer.Option("--list-settings", help="Print every setting, and do nothing else.")
    ] = False,
    format: Annotated[
        Format | None, typer.Option(help="Whose files they are; told from each file otherwise.")
    ] = None,
    license: Annotated[
        str, typer.Option(help="Licence of the pages (SPDX name), where the files do not say.")
    ] = "",
    origin: Annotated[str, typer.Option(help="Public name of the source.")] = "",
    skip_damaged: Annotated[
        bool, typer.Option("--skip-damaged", help="Go on past a damaged line.")
    ] = False,
    text: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Rows of a text-to-text world model to mix in. May be repeated."
        ),
    ] = None,
    chat: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Rows of general chat to mix in. May be repeated."),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Model folder whose tokenizer counts; a token for 3 characters otherwise.",
        ),
    ] = None,
    annotate_url: Annotated[
        str,
        typer.Option(
            help="OpenAI-compatible server that writes reasoning and changes; templates otherwise."
        ),
    ] = "",
    annotate_model: Annotated[str, typer.Option(help="Its model.")] = "",
    key_variable: Annotated[
        str,
        typer.Option(metavar="NAME", help="Environment variable that holds the server's key."),
    ] = "",
    export: Annotated[
        bool, typer.Option("--export/--no-export", help="Write files for TRL and LlamaFactory.")
    ] = True,
    near: Annotated[
        bool,
        typer.Option("--near/--no-near", help="Measure near-duplicates (package rensa)."),
    ] = True,
    check: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="TRAIN EVAL",
            help="Only compare two data sets: refuse what is trained on and measured with.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make training data for world models: filtered, split, in every form, with a card."""
    from dynaweb.cli import datamaking

    config = datamaking.chosen(preset, form or [], settings or [])
    if list_settings:
        datamaking.show_settings(config)
        return
    if check is not None:
        if files or out is not None:
            raise UserError("--check only compares: leave the files and --out away")
        datamaking.check(*check, config.split.by, as_json=as_json)
        return
    if not files:
        raise UserError("no files: name trajectories, or use --check TRAIN EVAL")
    if out is None:
        raise UserError("no --out: name a folder to write")
    annotator = datamaking.AnnotatorWish(
        url=annotate_url, model=annotate_model, key_variable=key_variable
    )
    wish = datamaking.Wish(
        files=tuple(files), out=out, config=config, format=format, license=license, origin=origin, skip_damaged=skip_damaged,
        text=tuple(text or ()), chat=tuple(chat or ()), tokenizer=tokenizer, annotator=annotator, export=export, near=near,
    )  # fmt: skip
    datamaking.make(wish, quiet=quiet, as_json=as_json)
