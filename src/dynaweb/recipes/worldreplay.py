"""Dreams of a world model done again in the real browser, whatever policy there is: W2R by depth (papers F10).

The policy is an expert that errs where the task has one, and chance on every second page: the first ends soon, the
second goes as deep as it may. Neither learnt anything from the model that is measured.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from dynaweb.bench.results import ReplayReport
from dynaweb.bench.w2r import Replay, replay, replay_report
from dynaweb.bench.worlds.answers import Measured
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment, miniwob_world
from dynaweb.collect.experts import EXPERTS
from dynaweb.collect.explore import NoiseConfig, NoisyExpert, RandomAgent
from dynaweb.contracts import Agent
from dynaweb.dream.config import DreamConfig
from dynaweb.dream.environment import DreamEnvironment
from dynaweb.errors import BrowserError, UserError
from dynaweb.lm.gather import Gather
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Behaviour
from dynaweb.rollout.episode import EpisodeConfig, run_episode
from dynaweb.rollout.workers import work_through
from dynaweb.runs.progress import Progress

MAX_DEPTH = 10
MAX_BATCH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayWish:
    """What to dream and do again."""

    tasks: tuple[str, ...]
    """MiniWoB++ tasks."""
    pages: int = 10
    """First pages of each task."""
    first_seed: int = 900_000
    """Seed of the first of them; not among those that were trained on."""
    depth: int = MAX_DEPTH
    """Actions a dream may take."""
    workers: int = 2
    """Pages at a time."""
    seed: int = 0
    """Of the policies' choices."""

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= MAX_DEPTH:
            raise UserError(f"depth {self.depth!r} is out of range: use 1 to {MAX_DEPTH}")
        if self.pages < 1 or self.workers < 1:
            raise UserError("pages and workers to replay are 1 or more")


@dataclass(frozen=True, slots=True)
class _Job:
    task: str
    seed: int


def replay_world(
    model: Measured, wish: ReplayWish, browser: BrowserConfig, progress: Progress
) -> ReplayReport:
    """Dream from real first pages, do the actions for real, count by depth.

    Raises:
        UserError: no such task. MissingDependencyError: no browser.
    """
    jobs = [
        _Job(task, seed)
        for seed in range(wish.first_seed, wish.first_seed + wish.pages)
        for task in wish.tasks
    ]
    done = asyncio.run(_replay_all(model, jobs, wish, browser, progress))
    return replay_report(done, max_depth=wish.depth)


async def _replay_all(
    model: Measured,
    jobs: Sequence[_Job],
    wish: ReplayWish,
    browser: BrowserConfig,
    progress: Progress,
) -> list[Replay]:
    ask = Gather(model.world.predict, max_batch=MAX_BATCH).ask
    config = DreamConfig(max_steps=wish.depth, stop_loops=False, show_goal=model.shows_goal)
    done: list[Replay] = []
    seen = 0
    stage = f"replay {model.name}"
    progress(stage, 0, len(jobs))

    async def one(env: BrowserEnvironment, job: _Job) -> Replay | None:
        try:
            await env.reset(job.task, job.seed)
            start = await env.snapshot()
        except BrowserError:
            return None
        imagined = DreamEnvironment(ask, config)
        dream = await run_episode(
            imagined,
            _policy(job, wish.seed),
            trajectory_id=f"replay/{job.task}/{job.seed}",
            task=job.task,
            seed=job.seed,
            config=EpisodeConfig(max_steps=wish.depth),
            behaviour=Behaviour.RANDOM,
            start=start,
            episode_seed=derive_seed(wish.seed, "replay", job.task, job.seed),
            world_model_version=model.world.version,
        )
        return await replay(dream, env) if dream.steps else None

    def keep(job: _Job, made: Replay | None) -> None:
        nonlocal seen
        seen += 1
        if made is not None:
            done.append(made)
        progress(stage, seen, len(jobs), f"{seen - len(done)} without a dream")

    async with miniwob_world(browser) as make_env:
        await work_through(jobs, make_env, one, keep, workers=wish.workers)
    return done


def _policy(job: _Job, seed: int) -> Agent:
    expert = EXPERTS.get(job.task)
    if expert is None or job.seed % 2:
        return RandomAgent()
    return NoisyExpert(
        expert=expert, attempt_seed=derive_seed(seed, job.task, job.seed), config=NoiseConfig()
    )
