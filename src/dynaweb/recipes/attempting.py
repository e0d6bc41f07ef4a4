"""The policy in training at real pages: GSPO's third source (DynaWeb 1), in the same loop and the same records as dreams."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from dynaweb.agent.lm_agent import AgentConfig, LmAgent
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment, miniwob_world
from dynaweb.collect.run import CollectConfig
from dynaweb.contracts import Sampler
from dynaweb.dream.run import DreamRequest
from dynaweb.lm.gather import Gather
from dynaweb.lm.language import Language
from dynaweb.recipes.config import RecipeConfig
from dynaweb.recipes.policy import MAX_BATCH
from dynaweb.records.codec import dump
from dynaweb.records.trajectory import Behaviour, Trajectory
from dynaweb.rollout.episode import EpisodeConfig, run_episode
from dynaweb.rollout.workers import work_through
from dynaweb.runs.atomic import write_text

LIVE = "live"
"""Folder of the attempts that a training made at real pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveAttempts:
    """A `gspo.groups.Attempt` in real Chromium; every attempt is kept, since it cost real steps."""

    browser: BrowserConfig
    sampler: Sampler
    """Holds the weights in training; its version is written on the attempts."""
    language: Language
    agent: AgentConfig
    max_steps: int
    workers: int
    """Attempts side by side; changes no result."""
    threads: int
    """Of torch while the browser runs."""
    keep: Path
    """Folder: one file of trajectories for each call, named after its first start."""

    def __call__(self, requests: Sequence[DreamRequest]) -> list[Trajectory]:
        """Attempts in the order of the requests; one that the browser breaks is unknown, and says why.

        Raises:
            MissingDependencyError: there is no browser. UserError: no such task.
        """
        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            made = asyncio.run(self._all(requests))
        finally:
            torch.set_num_threads(before)
        self.keep.mkdir(parents=True, exist_ok=True)
        text = "".join(dump(t) + "\n" for t in made)
        write_text(self.keep / f"{requests[0].name}.jsonl", text)
        return made

    async def _all(self, requests: Sequence[DreamRequest]) -> list[Trajectory]:
        pages = CollectConfig()
        gather = Gather(self.sampler.sample, max_batch=MAX_BATCH)
        agent = LmAgent(gather.ask, self.language, self.sampler.version, self.agent)
        made: list[Trajectory] = []

        async def one(env: BrowserEnvironment, request: DreamRequest) -> Trajectory:
            return await run_episode(
                env,
                agent,
                trajectory_id=request.name,
                task=request.start.task,
                seed=request.start.seed,
                config=EpisodeConfig(max_steps=self.max_steps),
                behaviour=Behaviour.AGENT,
                start=request.start,
                episode_seed=request.seed,
                origin=pages.origin,
                license=pages.license,
            )

        async with miniwob_world(self.browser) as make_env:
            await work_through(
                requests, make_env, one, lambda _, t: made.append(t), workers=self.workers
            )
        return made


def live_attempts(
    config: RecipeConfig, sampler: Sampler, language: Language, keep: Path
) -> LiveAttempts | None:
    """As a recipe's GSPO makes them; None when none of its groups are live.

    Args:
        config: of the recipe.
        sampler: holds the weights in training.
        language: the policy's.
        keep: where the attempts are kept.
    """
    if not config.gspo.live.share:
        return None
    return LiveAttempts(
        browser=config.browser,
        sampler=sampler,
        language=language,
        agent=AgentConfig(
            temperature=config.gspo.update.temperature, max_new_tokens=config.gspo.max_new_tokens
        ),
        max_steps=config.gspo.live.max_steps,
        workers=config.live_workers,
        threads=config.live_threads,
        keep=keep,
    )
