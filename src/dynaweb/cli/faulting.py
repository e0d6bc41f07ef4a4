"""`dynaweb bench faults` and `dynaweb bench soak`: does the browser come through what pages and machines do to it?"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from dynaweb.cli.drawing import drawing
from dynaweb.cli.endings import FAILED, OK
from dynaweb.cli.saying import say

if TYPE_CHECKING:
    from dynaweb.recipes.faults.run import FaultRow
    from dynaweb.recipes.faults.soak import SoakReport


def measure_faults(
    names: Sequence[str], deadline_sec: float, browser: str, *, as_json: bool, quiet: bool
) -> int:
    """Inject faults, print what came of each; exit code 1 when one did harm.

    Raises:
        UserError: no such fault. MissingDependencyError: there is no browser.
    """
    from dynaweb.browser.config import BrowserConfig
    from dynaweb.recipes.faults.run import chosen_faults, inject_faults

    cases = chosen_faults(names)
    config = BrowserConfig(executable=browser, deadline_sec=deadline_sec)
    with drawing(quiet=quiet) as progress:
        rows = asyncio.run(inject_faults(cases, config, progress))
    told = [{**asdict(r), "ok": r.ok} for r in rows]
    say(json.dumps(told, indent=1) if as_json else "\n".join(_fault_lines(rows, deadline_sec)))
    return OK if all(r.ok for r in rows) else FAILED


def list_faults() -> None:
    """Print the names of the faults and what each is."""
    from dynaweb.recipes.faults.cases import CASES

    say("\n".join(f"{c.name:<17} {c.what}" for c in CASES))


def measure_soak(
    episodes: int, workers: int, tasks: Sequence[str], browser: str, *, as_json: bool, quiet: bool
) -> int:
    """Run many episodes, print whether anything grows; exit code 1 when it does.

    Raises:
        UserError: too few episodes or a task without an expert. MissingDependencyError: browser or pages are missing.
    """
    from dynaweb.browser.config import BrowserConfig
    from dynaweb.recipes.faults.soak import soak

    with drawing(quiet=quiet) as progress:
        report = asyncio.run(
            soak(episodes, workers, tasks, BrowserConfig(executable=browser), progress)
        )
    told = {**asdict(report), "ok": report.ok}
    say(json.dumps(told, indent=1) if as_json else "\n".join(_soak_lines(report)))
    return OK if report.ok else FAILED


def _fault_lines(rows: Sequence["FaultRow"], deadline_sec: float) -> list[str]:
    said = [
        f"deadline {deadline_sec:g} s; left: processes, folders",
        "fault             came   seconds  over  next episode  left  verdict",
    ]
    for r in rows:
        came_after = f"{'ok' if r.next_ok else 'LOST'} {r.next_sec:.1f} s"
        verdict = "ok" if r.ok else f"HARM, expected {r.expected}"
        said.append(
            f"{r.fault:<17} {r.came:<5} {r.seconds:>8.1f} {r.over_sec:>5.1f}  {came_after:<12}"
            f"  {r.left_processes},{r.left_folders}   {verdict}: {r.said[:100]}"
        )
    over = max(r.over_sec for r in rows)
    good = sum(r.ok for r in rows)
    said.append(
        f"{good} of {len(rows)} faults did no harm; most over the deadline: {over:.1f} s; left: "
        f"{sum(r.left_processes for r in rows)} processes, {sum(r.left_folders for r in rows)} folders: "
        + ("pass" if good == len(rows) else "FAIL")
    )
    return said


def _soak_lines(report: "SoakReport") -> list[str]:
    said = [
        f"{report.episodes} episodes, {report.workers} at a time, {report.seconds:.0f} s; lost by the browser: {report.broken}",
        "this process and its browser  first batch  last batch  growth in 500 episodes (95 % interval)  allowed",
    ]
    for s in report.slopes:
        grown = f"{s.growth:+.2f} ({s.low:+.2f} to {s.high:+.2f})"
        said.append(
            f"{s.what:<28}  {s.first:>11.1f}  {s.last:>10.1f}  {grown:<38}  {s.allowed:>7g}{'' if s.ok else '  GROWS'}"
        )
    said.append("pass" if report.ok else "FAIL")
    return said
