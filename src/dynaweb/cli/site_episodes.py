"""`dynaweb collect` on real sites and on apps that judge themselves: one world for each, into one file."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.sites.app_site import PREFIX, app_world, read_app_task
from dynaweb.browser.sites.build import build_site
from dynaweb.browser.sites.catalogue import find_site
from dynaweb.browser.sites.checkout import Checkout
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.sites.tasks import is_site_task, read_task
from dynaweb.browser.sites.world import site_world
from dynaweb.cli.drawing import drawing
from dynaweb.collect.explore import RandomAgent
from dynaweb.collect.run import CollectConfig, CollectResult, Job, collect_episodes
from dynaweb.errors import UserError
from dynaweb.runs.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What episodes on sites need besides their tasks."""

    home: Path
    checkout: Path | None = None
    trusted: bool = False
    python: str = ""
    """Interpreter for a checkout's verifiers; empty means this one."""


def belongs_here(names: tuple[str, ...]) -> bool:
    """Whether these tasks are places on sites.

    Raises:
        UserError: some are and some are not.
    """
    here = [name.startswith(PREFIX) or is_site_task(name) for name in names]
    if any(here) and not all(here):
        other = names[here.index(False)]
        raise UserError(
            f"task {other!r} is one of MiniWoB++, others are on sites: collect them separately"
        )
    return any(here)


def collect_on_sites(
    jobs: list[Job], out: Path, config: CollectConfig, browser: str, places: Places, *, quiet: bool
) -> list[CollectResult]:
    """Have random episodes, site by site.

    Raises:
        UserError: no such task, another policy than random, or a checkout that is missing or not trusted.
    """
    if other := next((job.policy for job in jobs if job.policy != "random"), None):
        raise UserError(f"policy {other!r} knows MiniWoB++ alone: on sites use --policy random")
    checkout = _checkout(jobs, places)
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(_group(job.task, checkout), []).append(job)
    view = BrowserConfig(executable=browser, width_px=1280, height_px=720, deadline_sec=60.0)
    with drawing(quiet=quiet) as progress:
        return [
            # what is to be built is built before the event loop: a keyboard's interrupt must end it
            asyncio.run(_collect(group, _ground(name, places, checkout, progress), out, config, view, progress))
            for name, group in groups.items()
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Ground:
    """Where some of the episodes take place, with licence and origin of its pages."""

    license: str
    origin: str
    world: Callable[[BrowserConfig, int], AbstractAsyncContextManager[Callable[[], BrowserEnvironment]]]  # fmt: skip


def _ground(name: str, places: Places, checkout: Checkout | None, progress: Progress) -> _Ground:
    home = SiteHome(places.home)
    if name.startswith(PREFIX):
        assert checkout is not None
        app = name.removeprefix(PREFIX)
        return _Ground("MIT", f"webarena-infinity/{app}", partial(app_world, checkout, app, home))
    spec = find_site(name)
    built = build_site(spec, home, 0, progress)
    return _Ground(spec.license, spec.package, partial(site_world, built, home))


async def _collect(
    jobs: list[Job],
    ground: _Ground,
    out: Path,
    config: CollectConfig,
    view: BrowserConfig,
    progress: Progress,
) -> CollectResult:
    workers = min(config.workers, len(jobs))
    config = replace(config, workers=workers, license=ground.license, origin=ground.origin)
    async with ground.world(view, workers) as make:
        return await collect_episodes(jobs, make, lambda _: RandomAgent(), out, config, progress)


def _checkout(jobs: list[Job], places: Places) -> Checkout | None:
    if not any(job.task.startswith(PREFIX) for job in jobs):
        return None
    if places.checkout is None:
        raise UserError(f"tasks that begin with {PREFIX!r} need --checkout DIR")
    checkout = Checkout(root=places.checkout, trusted=places.trusted)
    checkout.require_trust()
    return replace(checkout, python=places.python) if places.python else checkout


def _group(task: str, checkout: Checkout | None) -> str:
    """The site, or the app with the prefix; refuses a task that does not exist before anything is started."""
    if task.startswith(PREFIX):
        assert checkout is not None
        return PREFIX + read_app_task(task, checkout).app
    return read_task(task).spec.name
