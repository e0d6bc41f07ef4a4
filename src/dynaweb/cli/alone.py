"""Settings and checks of the training commands that stand by themselves (`agent train`, `gspo train`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import typer

from dynaweb.cli.endings import did_you_mean
from dynaweb.cli.settings import override, settings_of
from dynaweb.errors import UserError

C = TypeVar("C")

Set: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting. May be repeated."),
]


def overridden(config: C, assignments: Sequence[str], used: Sequence[str]) -> C:
    """The configuration with assignments to settings that the command uses.

    Args:
        config: before.
        assignments: `key=value`.
        used: keys, or beginnings of keys that end in a dot.

    Raises:
        UserError: a setting that does not exist, that would change nothing here, or a bad value.
    """
    keys = [s.key for s in settings_of(config)]
    mine = [k for k in keys if any(k == u or (u[-1] == "." and k.startswith(u)) for u in used)]
    for text in assignments:
        key = text.partition("=")[0].strip()
        if key in keys and key not in mine:
            raise UserError(f"--set {key}: this command does not use it; it uses {', '.join(used)}")
        if "=" in text and key not in keys:
            hint = did_you_mean(key, mine) or f"; this command uses {', '.join(used)}"
            raise UserError(f"--set: no setting {key!r}{hint}")
    return override(config, assignments)


def require_folder(path: Path, what: str, *, holds: str = "") -> None:
    """A folder that must be there, and what must be in it.

    Raises:
        UserError: there is none, or it does not hold that.
    """
    if not path.is_dir():
        raise UserError(f"no folder {str(path)!r} for {what}: give the folder that holds its model")
    if holds and not (path / holds).is_file():
        raise UserError(
            f"no model in {str(path)!r} for {what}: expected {holds} there, as `dynaweb agent train` writes it"
        )


def require_elsewhere(out: Path, *sources: Path | None) -> None:
    """The results do not go where a model to begin with stands.

    Raises:
        UserError: they would.
    """
    for source in sources:
        if source is not None and out.resolve() == source.resolve():
            raise UserError(
                f"--out {str(out)!r} is the folder to begin with: choose another, nothing is overwritten"
            )


def counted(reasons: dict[str, int]) -> str:
    """Reasons and how often, most frequent first."""
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in ordered)
