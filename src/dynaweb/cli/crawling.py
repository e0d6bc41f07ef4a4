"""`dynaweb crawl`: a random crawl over addresses and sites; and what kills do to one."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli import siting
from dynaweb.cli.options import AsJson, Quiet
from dynaweb.errors import UserError


def crawl_command(
    place: Annotated[
        list[str] | None,
        typer.Argument(
            help="Addresses (http://...), sites (shop, tracker, forum) or places on them (shop:/catalogue/)."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of its own; the same command again goes on.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="More places, one a line; lines that begin with # are left out.")
    ] = None,
    visits: Annotated[int, typer.Option(min=1, help="Visits in all; more of them go on.")] = 100,
    steps: Annotated[int, typer.Option(min=0, help="Actions in all; 0 sets no limit.")] = 0,
    min_steps: Annotated[int, typer.Option(min=1, help="Least actions of a visit.")] = 3,
    max_steps: Annotated[int, typer.Option(min=1, help="Most actions of a visit.")] = 10,
    again: Annotated[int, typer.Option(min=1, help="Visits to each address.")] = 1,
    workers: Annotated[int, typer.Option(min=1, help="Visits side by side: tabs of one browser, or browsers on a cluster.")] = 4,
    executor: Annotated[
        str, typer.Option(help="Who makes the visits: local (this process) or ray (workers on a Ray cluster; extra ray).")
    ] = "local",
    ray_address: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Cluster; otherwise RAY_ADDRESS, or one that runs on this machine as long as the crawl."),
    ] = "",
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Another origin where pages may go. May be repeated."),
    ] = None,
    private: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST:PORT", help="May lie in a private network. May be repeated."),
    ] = None,
    max_depth: Annotated[int, typer.Option(min=0, help="Links followed from a start.")] = 8,
    per_pattern: Annotated[
        int, typer.Option(min=1, help="Addresses that differ in numbers alone (calendars).")
    ] = 20,
    pause: Annotated[
        float,
        typer.Option(min=0.0, help="Seconds between two actions on a site that is not on this machine."),
    ] = 1.0,
    max_pause: Annotated[
        float, typer.Option(min=0.0, help="Sites whose Crawl-delay is longer, in seconds, are left out.")
    ] = 30.0,
    robots: Annotated[
        bool, typer.Option("--robots/--no-robots", help="Obey robots.txt; not, on your own site alone.")
    ] = True,
    send: Annotated[
        str,
        typer.Option(help="Where forms may be sent: local (sites on this machine), none or all (with --yes)."),
    ] = "local",
    yes: Annotated[bool, typer.Option("--yes", help="You may change what is on those sites.")] = False,
    ban: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="No address and no kept page may hold it. May be repeated."),
    ] = None,
    ban_file: Annotated[Path | None, typer.Option(help="Such words, one a line.")] = None,
    score_url: Annotated[
        str, typer.Option(help="OpenAI-compatible server that scores the places to begin with.")
    ] = "",
    score_model: Annotated[str, typer.Option(help="Its model.")] = "",
    min_score: Annotated[
        float, typer.Option(min=0.0, max=10.0, help="Mean of four scores below which a place is dropped.")
    ] = 5.0,
    key_variable: Annotated[
        str, typer.Option(metavar="NAME", help="Environment variable that holds the server's key.")
    ] = "",
    max_tokens: Annotated[
        int, typer.Option(min=1, help="Longer trajectories are dropped (a token for 3 characters).")
    ] = 30_000,
    near: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Likeness of near-duplicates; 0 keeps them.")
    ] = 0.9,
    mask: Annotated[
        bool, typer.Option("--mask/--no-mask", help="Replace mail addresses, phone numbers, cards, keys.")
    ] = True,
    license: Annotated[str, typer.Option(help="Licence of the pages (SPDX name).")] = "",
    home: siting.Home = None,
    seed: Annotated[int, typer.Option(help="Of order and actions.")] = 0,
    browser: Annotated[str, typer.Option(help="Path of a Chromium; the first one found otherwise.")] = "",
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="The card as JSON.")] = False,
    acknowledge: Annotated[bool, typer.Option("--acknowledge", hidden=True)] = False,
) -> None:  # fmt: skip
    """Visit addresses and do random things there: trajectories, filtered, with a card (WebWorld, level 1)."""
    from dynaweb.cli.crawls import Asked, crawl

    if out is None:
        raise UserError("no --out: name a folder for the crawl")
    asked = Asked(
        places=tuple(place or ()), out=out, file=file, visits=visits, steps=steps, min_steps=min_steps, max_steps=max_steps,
        again=again, workers=workers, executor=executor, ray_address=ray_address, allow=tuple(allow or ()), private=tuple(private or ()), max_depth=max_depth, per_pattern=per_pattern, pause=pause,
        max_pause=max_pause, robots=robots, send=send, yes=yes, ban=tuple(ban or ()), ban_file=ban_file, score_url=score_url,
        score_model=score_model, min_score=min_score, key_variable=key_variable, max_tokens=max_tokens, near=near, mask=mask,
        license=license, home=siting.home_folder(home), seed=seed, browser=browser,
        argv=tuple(sys.argv),
    )  # fmt: skip
    crawl(asked, quiet=quiet, as_json=as_json, acknowledge=acknowledge)


def kills_command(
    out: Annotated[Path, typer.Option(help="Folder of its own.")] = Path("runs/kills"),
    times: Annotated[
        int, typer.Option(min=1, help="SIGKILLs in all; the same command goes on.")
    ] = 200,
    workers: Annotated[int, typer.Option(min=1, help="Of the crawl that is killed.")] = 4,
    seed: Annotated[int, typer.Option(help="Of the moments.")] = 0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Kill a crawl of a made-up site again and again: acknowledged steps that are lost, steps that stand there twice."""
    from dataclasses import asdict

    from dynaweb.cli.drawing import drawing
    from dynaweb.recipes.crawlkills import kill_crawls

    with drawing(quiet=quiet) as progress:
        found = kill_crawls(out, times=times, workers=workers, seed=seed, progress=progress)
    if as_json:
        print(json.dumps({**asdict(found), "sound": found.sound}, indent=1))
    else:
        print(
            f"{found.kills} kills by SIGKILL in {found.seconds:.0f} s, {found.before_any_step} of them before a first step: "
            f"{found.acknowledged} steps acknowledged, {found.lost} lost, {found.duplicates} twice, {found.torn} torn lines put aside, "
            f"{found.trajectories} trajectories, {found.repeated_ids} ids twice"
        )
    return 0 if found.sound else 1
