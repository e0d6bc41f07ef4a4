"""Commands around the live world: which tasks there are, episodes in them, and the pages themselves."""

import asyncio
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import miniwob_world
from dynaweb.browser.miniwob import miniwob_tasks
from dynaweb.browser.pages import PageServer, miniwob_root
from dynaweb.cli.drawing import drawing
from dynaweb.cli.endings import TooManyFailuresError
from dynaweb.cli.names import known_task, require_expert
from dynaweb.cli.site_episodes import Places, belongs_here, collect_on_sites
from dynaweb.collect.experts import EXPERTS
from dynaweb.collect.explore import NoiseConfig, NoisyExpert, RandomAgent
from dynaweb.collect.run import FAULTS, CollectConfig, CollectResult, Job, collect_episodes
from dynaweb.contracts import Agent
from dynaweb.errors import UserError
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Behaviour

POLICIES = ("expert", "noisy", "random")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What `dynaweb collect` was asked for."""

    tasks: tuple[str, ...]
    out: Path
    policy: str
    episodes: int
    first_seed: int
    max_steps: int
    noise: float
    seed: int
    workers: int
    max_failures: int
    browser: str
    places: Places
    """Of tasks on sites."""


def list_tasks(*, experts: bool, as_json: bool) -> None:
    """Print the tasks; with an expert's longest attempt beside those that have one."""
    names = [name for name in miniwob_tasks() if name in EXPERTS or not experts]
    if as_json:
        rows = [
            {"task": n, "expert_steps": EXPERTS[n].steps if n in EXPERTS else None} for n in names
        ]
        print(json.dumps(rows, indent=1))
        return
    for name in names:
        print(f"{name:<34}expert, up to {EXPERTS[name].steps} step(s)" if name in EXPERTS else name)


def collect_tasks(wish: Wish, *, quiet: bool) -> None:
    """Have the episodes, and say what came of them.

    Raises:
        UserError: no such task or policy, or no expert for a task.
        TooManyFailuresError: more episodes broke than the caller allows.
    """
    if wish.policy not in POLICIES:
        raise UserError(f"no policy {wish.policy!r}: use one of {', '.join(POLICIES)}")
    if not wish.out.parent.is_dir():
        raise UserError(f"no folder {str(wish.out.parent)!r} for --out: make it first")
    if belongs_here(wish.tasks):
        jobs = _jobs(wish, list(dict.fromkeys(wish.tasks)))
        config = CollectConfig(workers=wish.workers, seed=wish.seed)
        _tell(
            wish,
            collect_on_sites(jobs, wish.out, config, wish.browser, wish.places, quiet=quiet),
        )
        return
    check = known_task if wish.policy == "random" else require_expert
    names = list(dict.fromkeys(check(name) for name in wish.tasks))
    _tell(wish, [asyncio.run(_collect(wish, names, quiet=quiet))])


def _jobs(wish: Wish, names: list[str]) -> list[Job]:
    behaviour = Behaviour.EXPERT if wish.policy == "expert" else Behaviour.RANDOM
    return [
        Job(task=name, seed=seed, policy=wish.policy, behaviour=behaviour, max_steps=wish.max_steps)
        for name in names
        for seed in range(wish.first_seed, wish.first_seed + wish.episodes)
    ]


async def _collect(wish: Wish, names: list[str], *, quiet: bool) -> CollectResult:
    jobs = _jobs(wish, names)
    config = CollectConfig(workers=min(wish.workers, len(jobs)), seed=wish.seed)
    async with miniwob_world(BrowserConfig(executable=wish.browser)) as make_env:
        with drawing(quiet=quiet) as progress:
            return await collect_episodes(
                jobs, make_env, partial(_agent, wish), wish.out, config, progress
            )


def _tell(wish: Wish, results: Sequence[CollectResult]) -> None:
    """Say what came of it.

    Raises:
        TooManyFailuresError: more episodes broke than the caller allows.
    """
    attempts = [t for result in results for t in result.trajectories if t.reason not in FAULTS]
    won = sum(t.reward == 1.0 for t in attempts)
    unjudged = sum(t.reward is None for t in attempts)
    unknown = sum(result.unknown for result in results)
    resumed = sum(result.resumed for result in results)
    print(
        f"{wish.out}: {len(attempts)} episodes, {won} successes, {f'{unjudged} without a verdict, ' if unjudged else ''}{unknown} broken; {resumed} were there before"
    )
    if unknown > wish.max_failures:
        raise TooManyFailuresError(
            f"{unknown} episodes broke, {wish.max_failures} allowed (--max-failures); the same command tries them again"
        )


def _agent(wish: Wish, job: Job) -> Agent:
    if wish.policy == "random":
        return RandomAgent()
    if wish.policy == "expert":
        return EXPERTS[job.task]
    noise = NoiseConfig(misread_fraction=wish.noise, slip_fraction=wish.noise)
    return NoisyExpert(
        expert=EXPERTS[job.task], attempt_seed=derive_seed(wish.seed, job.job_id), config=noise
    )


def serve_pages(port: int) -> None:
    """Serve until Ctrl-C.

    Raises:
        MissingDependencyError: the port is taken, or the pages are not installed.
    """
    server = PageServer(miniwob_root(), port)
    try:
        print(f"{server.origin}/miniwob/click-test.html  (Ctrl-C stops)", flush=True)
        threading.Event().wait()
    finally:
        server.close()
