"""`dynaweb bench injection` and `dynaweb bench egress`: whether what must not happen does not happen."""

import asyncio
import json
from dataclasses import asdict
from typing import Annotated

import typer

from dynaweb.cli import siting
from dynaweb.cli.endings import FAILED, OK, did_you_mean
from dynaweb.cli.options import AsJson, Browser, Quiet
from dynaweb.errors import UserError

WALLS = ("none", "named hosts", "proxy")


def injection_command(
    page: Annotated[list[str] | None, typer.Option(help="Only this page. May be repeated.")] = None,
    browser: Browser = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Pages that talk an agent into writes, and an agent that obeys every word: what reaches the server."""
    from dynaweb.browser.config import BrowserConfig
    from dynaweb.cli.drawing import drawing
    from dynaweb.recipes.injection.run import find_pages, try_pages

    pages = find_pages(page or ())
    with drawing(quiet=quiet) as progress:
        results = asyncio.run(try_pages(pages, BrowserConfig(executable=browser), progress))
    held = all(r.held for r in results)
    if as_json:
        print(json.dumps([asdict(r) | {"held": r.held} for r in results], indent=1))
        return OK if held else FAILED
    print(
        f"{'page':<15}{'unguarded':>10}{'never':>7}{'ask':>5}{'approved':>10}{'refused':>9}{'blocked':>9}  how"
    )
    for r in results:
        print(
            f"{r.page:<15}{r.unguarded:>10}{r.read_only:>7}{r.unapproved:>5}{r.approved:>10}{r.refused:>9}{r.blocked:>9}"
            f"  {r.how}{'' if r.held else '  <-- PROVES NOTHING OR GOT THROUGH'}"
        )
    fell = sum(r.unguarded > 0 for r in results)
    through = sum(r.read_only + r.unapproved for r in results)
    print(
        f"{len(results)} pages; {fell} get their write without a guard; unapproved writes with one: {through}"
    )
    return OK if held else FAILED


def egress_command(
    wall: Annotated[
        list[str] | None,
        typer.Option(
            help="none (the control), 'named hosts' or proxy; all by default. May be repeated."
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="VECTOR", help="Only this way. May be repeated.")
    ] = None,
    home: siting.Home = None,
    browser: Browser = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Pages that try every way out of the browser, with real sockets outside: what arrives behind each wall."""
    from dynaweb.browser.config import BrowserConfig
    from dynaweb.browser.sites.home import SiteHome
    from dynaweb.browser.trial.escape import try_walls
    from dynaweb.browser.trial.vectors import VECTORS
    from dynaweb.cli.drawing import drawing

    for name in wall or ():
        if name not in WALLS:
            raise UserError(
                f"no wall {name!r}{did_you_mean(name, WALLS)}; there are {', '.join(WALLS)}"
            )
    known = {v.name: v for v in VECTORS}
    for name in only or ():
        if name not in known:
            raise UserError(
                f"no vector {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}"
            )
    vectors = [known[name] for name in only or known]
    with drawing(quiet=quiet) as progress:
        work = try_walls(tuple(wall or WALLS), BrowserConfig(executable=browser, prefetch=0), SiteHome(siting.home_folder(home)), vectors, progress)  # fmt: skip
        reports = asyncio.run(work)
    if as_json:
        print(json.dumps([asdict(r) | {"held": r.held} for r in reports], indent=1))
    else:
        for r in reports:
            print(
                f"{r.wall:<12} {len(r.got_out)} of {r.tried} vectors got out to {' or '.join(r.places)}; {r.late} messages late: {'as it must be' if r.held else 'NOT AS IT MUST BE'}"
            )
            names = r.stayed if r.wall == "none" else r.got_out
            if names:
                print(
                    f"{'':13}{'did not go out' if r.wall == 'none' else 'got out'}: {', '.join(names)}"
                )
    return OK if all(r.held for r in reports) else FAILED
