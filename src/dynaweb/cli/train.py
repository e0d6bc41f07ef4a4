"""`dynaweb demo`, `dynaweb study` and their settings: a recipe, overrides, and the run."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from dynaweb.cli.drawing import drawing
from dynaweb.cli.endings import OK, complain
from dynaweb.cli.names import require_expert
from dynaweb.cli.settings import override, settings_of
from dynaweb.errors import UserError
from dynaweb.recipes.config import MAY_DIFFER, RecipeConfig
from dynaweb.recipes.presets import PRESETS
from dynaweb.runs.folder import check_folder, plain, require_free


def chosen(
    name: str, allowed: Sequence[str], seed: int | None, assignments: Sequence[str]
) -> RecipeConfig:
    """A recipe with everything that the command line changes.

    Raises:
        UserError: no such recipe, setting or task, or a value out of range.
    """
    if name not in allowed:
        raise UserError(f"--size {name!r}: use one of {', '.join(allowed)}")
    config = PRESETS[name]()
    if seed is not None:
        config = config.with_seed(seed)
    config = override(config, assignments)
    tasks = tuple(require_expert(task) for task in config.tasks)
    return replace(config, tasks=tasks)


def run_recipe(
    name: str,
    out: Path,
    seed: int | None,
    assignments: Sequence[str],
    *,
    quiet: bool,
    command: tuple[str, ...],
) -> None:
    """Run a recipe, or go on with it; print its tables and where the report is.

    Raises:
        DynawebError: see `recipes.whole.run_whole`.
    """
    allowed = ("study",) if name == "study" else ("smoke", "demo")
    config = chosen(name, allowed, seed, assignments)
    # before torch is loaded: a folder that will not do is refused at once
    known = check_folder(out, config=config, seed=config.seed, may_differ=MAY_DIFFER)
    require_free(out)
    if known and not quiet:
        complain(f"going on with the run in {str(out)!r}", OK)

    from dynaweb.recipes.whole import run_whole
    from dynaweb.report.load import load_report
    from dynaweb.report.terminal import terminal_report

    with drawing(quiet=quiet) as progress:
        report = run_whole(config, out, progress, command)
    Console().print(terminal_report(load_report(out)))
    print(f"report: {report}")


def show_settings(size: str, assignments: Sequence[str], *, as_json: bool) -> None:
    """Print every setting of a recipe.

    Raises:
        UserError: no such recipe, or a bad assignment.
    """
    found = list(settings_of(chosen(size, tuple(PRESETS), None, assignments)))
    if as_json:
        print(
            json.dumps(
                [{"key": s.key, "value": plain(s.value), "doc": s.doc} for s in found], indent=1
            )
        )
        return
    for s in found:
        print(f"{s.key} = {_shown(plain(s.value))}" + (f"\n    {s.doc}" if s.doc else ""))


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
