"""`dynaweb visit`: act on a live page by hand, behind the proxy and the guard that agents have."""

from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli import siting
from dynaweb.cli.options import Browser, Quiet


def visit_command(
    url: Annotated[str, typer.Argument(help="Address of the first page.")],
    action: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ACTION",
            help="click('12'), ... May be repeated; without, lines of standard input.",
        ),
    ] = None,
    writes: Annotated[
        str, typer.Option(help="never, ask or allow; never by default, allow on this machine.")
    ] = "",
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Another origin to go to. May be repeated."),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="A host that pages may load things from (cdn.example, *.example.org).",
        ),
    ] = None,
    private: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST:PORT", help="May lie in a private network. May be repeated."),
    ] = None,
    secrets: Annotated[
        Path | None,
        typer.Option(help="JSON file (mode 600) of secrets; actions say <secret>NAME</secret>."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="JSON lines file; the trajectory is added.")
    ] = None,
    home: siting.Home = None,
    browser: Browser = "",
    quiet: Quiet = False,
) -> None:
    """Act on a live page: read-only unless you say otherwise, through a proxy that knows this site alone."""
    from dynaweb.cli.visits import Visit, visit

    wish = Visit(
        url=url, actions=tuple(action or ()), writes=writes, allow=tuple(allow or ()), also=tuple(also or ()),
        private=tuple(private or ()), secrets=secrets, out=out, home=siting.home_folder(home), browser=browser,
    )  # fmt: skip
    visit(wish, quiet=quiet)
