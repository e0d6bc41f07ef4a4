"""What `dynaweb bench live` does."""

import asyncio
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from dynaweb.bench.live.plan import choose_tasks
from dynaweb.bench.live.rival import PACKAGES
from dynaweb.browser.sites.build import build_environment
from dynaweb.browser.sites.home import SiteHome
from dynaweb.cli.drawing import drawing
from dynaweb.cli.endings import FAILED, OK
from dynaweb.cli.live_told import BEGIN, END, missed, section, told
from dynaweb.cli.saying import say
from dynaweb.cli.sections import require_section, write_section
from dynaweb.recipes.livespeed import LiveWish, measure_live


def bench_live(
    names: Sequence[str],
    *,
    count: int,
    seeds: int,
    rounds: int,
    browsergym: bool,
    executable: str,
    home: Path,
    out: Path,
    into: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Measure and tell; 1 where a goal is missed."""
    wish = LiveWish(
        tasks=choose_tasks(names, count),
        seeds=seeds,
        rounds=rounds,
        browsergym=browsergym,
        executable=executable,
    )
    if into is not None:
        require_section(into, BEGIN, END)
    with drawing(quiet=quiet) as progress:
        python = (
            build_environment(PACKAGES, SiteHome(home), progress) / "bin" / "python"
            if browsergym
            else None
        )
        report = asyncio.run(measure_live(wish, out, python, progress))
    short = missed(report)
    if into is not None:
        command = shlex.join(["dynaweb", *sys.argv[1:]])
        write_section(into, BEGIN, END, list(section(report, command)))
    if as_json:
        say(json.dumps({**asdict(report), "missed": short}, indent=1))
    else:
        say("\n".join([*told(report), *(f"missed: {line}" for line in short)]))
    return FAILED if short else OK
