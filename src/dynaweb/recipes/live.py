"""Real episodes for a recipe: jobs, seeds and files, in one browser."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from dynaweb.browser.environment import miniwob_world
from dynaweb.collect.run import CollectConfig, CollectResult, Job, MakeAgent, collect_episodes
from dynaweb.recipes.config import RecipeConfig
from dynaweb.records.trajectory import Behaviour
from dynaweb.runs.progress import Progress

EXPERT_SEEDS = 0
NOISY_SEEDS = 10_000
RANDOM_SEEDS = 20_000
AGENT_SEEDS = 30_000
FILTERED_SEEDS = 40_000
OPENING_SEEDS = 45_000
"""Each source of episodes has pages of its own; held-out ones are in `config.HELD_OUT_SEEDS`, evaluation has those from one million on."""


def make_jobs(
    tasks: Sequence[str],
    seeds: Sequence[int],
    policy: str,
    behaviour: Behaviour,
    max_steps: int,
) -> list[Job]:
    """One job for each task and seed, tasks in turn, so that a cut list still holds every task."""
    return [
        Job(task=task, seed=seed, policy=policy, behaviour=behaviour, max_steps=max_steps)
        for seed in seeds
        for task in tasks
    ]


def collect_live(
    jobs: Sequence[Job],
    make_agent: MakeAgent,
    out: Path,
    config: RecipeConfig,
    progress: Progress,
) -> CollectResult:
    """Have the jobs' episodes in real Chromium; the same call goes on where it was stopped."""

    async def run() -> CollectResult:
        async with miniwob_world(config.browser) as make_env:
            how = CollectConfig(workers=config.live_workers, seed=config.seed)
            return await collect_episodes(jobs, make_env, make_agent, out, how, progress)

    out.parent.mkdir(parents=True, exist_ok=True)
    return asyncio.run(run())
