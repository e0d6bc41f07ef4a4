"""Many dreams on one event loop: the replies that wait are sampled together, and so are the pages."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from dynaweb.agent.lm_agent import AgentConfig, LmAgent
from dynaweb.contracts import Judge, Sampler, WorldModel
from dynaweb.dream.config import DreamConfig
from dynaweb.dream.environment import DreamEnvironment
from dynaweb.dream.lockstep import Lockstep
from dynaweb.lm.language import Language
from dynaweb.records.trajectory import Behaviour, Start, Trajectory
from dynaweb.rollout.episode import EpisodeConfig, run_episode
from dynaweb.rollout.verdict import needs_verdict, with_verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamRequest:
    """One dream to dream."""

    name: str
    """Trajectory id, unique in its run."""
    start: Start
    seed: int
    """Of the policy's choices; the imagined pages depend on the start alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dreamers:
    """Who dreams: policy, world model and judge. The judge is asked once, about all ended dreams."""

    sampler: Sampler
    language: Language
    """The policy's."""
    agent: AgentConfig
    world: WorldModel
    judge: Judge
    config: DreamConfig


def dream(requests: Sequence[DreamRequest], who: Dreamers) -> list[Trajectory]:
    """Dream them all, side by side; in the order asked.

    A dream depends on its own request, not on the others, as far as batched arithmetic allows.
    """
    trajectories = asyncio.run(_dream(requests, who))
    return judge_all(trajectories, who.judge)


def judge_all(trajectories: Sequence[Trajectory], judge: Judge) -> list[Trajectory]:
    """Verdicts in one batch for the attempts that wait for one; the others stay as they are."""
    waiting = [t for t in trajectories if needs_verdict(t)]
    verdicts = iter(judge.judge(waiting) if waiting else [])
    return [with_verdict(t, next(verdicts)) if needs_verdict(t) else t for t in trajectories]


async def _dream(requests: Sequence[DreamRequest], who: Dreamers) -> list[Trajectory]:
    together = Lockstep(
        who.sampler.sample,
        who.world.predict,
        dreams=len(requests),
        max_batch=who.config.max_batch,
    )
    agent = LmAgent(together.ask_reply, who.language, who.sampler.version, who.agent)
    limit = EpisodeConfig(max_steps=who.config.max_steps)

    async def one(request: DreamRequest) -> Trajectory:
        environment = DreamEnvironment(together.ask_page, who.config)
        try:
            return await run_episode(
                environment,
                agent,
                trajectory_id=request.name,
                task=request.start.task,
                seed=request.start.seed,
                config=limit,
                behaviour=Behaviour.AGENT,
                start=request.start,
                episode_seed=request.seed,
                world_model_version=who.world.version,
            )
        finally:
            together.leave()
            await environment.close()

    return list(await asyncio.gather(*(one(r) for r in requests)))
