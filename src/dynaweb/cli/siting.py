"""`dynaweb sites`: real web applications on this machine, built once, started, reset and stopped."""

import os
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.options import AsJson, Quiet
from dynaweb.errors import UserError

sites_app = typer.Typer(
    help="Real sites on this machine, offline: a shop, an issue tracker with a wiki, a forum.",
    no_args_is_help=True,
)

Home = Annotated[
    Path | None,
    typer.Option(
        help="Folder for environments, data and instances; $XDG_CACHE_HOME/dynaweb/sites by default."
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of the made-up data.")]


def home_folder(given: Path | None) -> Path:
    """Where sites are kept: what was given, or a folder of the user's cache."""
    if given is not None:
        return given.absolute()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # the XDG specification: a path that is not absolute is to be ignored
    root = Path(cache) if cache.startswith("/") else Path.home() / ".cache"
    return root / "dynaweb" / "sites"


@sites_app.command("list")
def list_command(home: Home = None, seed: Seed = 0, as_json: AsJson = False) -> None:
    """Which sites there are, and which of them are built."""
    from dynaweb.cli.site_commands import list_sites

    list_sites(home_folder(home), seed, as_json=as_json)


@sites_app.command("show")
def show_command(
    name: Annotated[str, typer.Argument(help="Name of a site.")], as_json: AsJson = False
) -> None:
    """A site's starting points, its users with their passwords, its robots.txt and its packages."""
    from dynaweb.cli.site_commands import show_site

    show_site(name, as_json=as_json)


@sites_app.command("build")
def build_command(
    names: Annotated[list[str], typer.Argument(help="Names of sites, or `all`.")],
    home: Home = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Install a site's packages and make its data, without starting it. Goes on where it was killed."""
    from dynaweb.cli.site_commands import build_sites

    build_sites(tuple(names), home_folder(home), seed, quiet=quiet)


@sites_app.command("up")
def up_command(
    name: Annotated[str, typer.Argument(help="Name of a site.")],
    instance: Annotated[
        str, typer.Option("--as", metavar="INSTANCE", help="Name of the instance; the site's own by default.")
    ] = "",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    home: Home = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Start a site on 127.0.0.1, built first if need be. It stays up until `dynaweb sites down`."""
    from dynaweb.cli.site_commands import bring_up

    bring_up(name, instance or name, port, home_folder(home), seed, quiet=quiet)


@sites_app.command("reset")
def reset_command(
    instance: Annotated[str, typer.Argument(help="Name of an instance.")], home: Home = None
) -> None:
    """Put the seeded data back; the site stays up."""
    from dynaweb.cli.site_commands import reset

    reset(instance, home_folder(home))


@sites_app.command("down")
def down_command(
    instances: Annotated[list[str] | None, typer.Argument(help="Names of instances.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every instance.")] = False,
    home: Home = None,
) -> None:
    """Stop instances and remove their data; what was built stays."""
    from dynaweb.cli.site_commands import take_down

    if everything == bool(instances):
        raise UserError("name the instances to stop, or say --all; `dynaweb sites status` lists them")  # fmt: skip
    take_down(tuple(instances or ()), home_folder(home))


@sites_app.command("status")
def status_command(home: Home = None, as_json: AsJson = False) -> None:
    """Which instances are up."""
    from dynaweb.cli.site_commands import show_status

    show_status(home_folder(home), as_json=as_json)


@sites_app.command("tasks")
def tasks_command(
    checkout: Annotated[
        Path, typer.Argument(help="Checkout laid out as webarena-infinity: apps/NAME/server.py.")
    ],
    app: Annotated[str, typer.Option(help="Only this app.")] = "",
    as_json: AsJson = False,
) -> None:
    """The tasks of apps that serve and judge themselves; `dynaweb collect` attempts them. Runs nothing."""
    from dynaweb.cli.site_commands import list_app_tasks

    list_app_tasks(checkout, app, as_json=as_json)
