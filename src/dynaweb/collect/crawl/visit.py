"""One visit: the episode loop with an agent that acts by chance and tells of every page before it acts on it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random

from dynaweb.collect.crawl.choose import Memory, choose_action
from dynaweb.collect.crawl.log import Event
from dynaweb.contracts import Environment
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Behaviour, Step, Trajectory
from dynaweb.rollout.episode import EpisodeConfig, run_episode

VERSION = "crawl-1"

Saw = Callable[[Event], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One visit to be made; plain, so that another process may make it."""

    number: int
    url: str
    seed: int
    min_steps: int
    max_steps: int
    scored: bool = False
    """A model must vouch for the address first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlAgent:
    """Satisfies `contracts.Agent`."""

    job: Job
    memory: Memory
    saw: Saw
    """Told of each page; returns once that is written down."""
    turn: Callable[[str], Awaitable[None]]
    """Waits until the site of this address may be asked again."""
    version: str = VERSION

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        """Write down what came of the last action; then something that the page offers."""
        await self.saw(page_event(self.job, past, observation))
        await self.turn(observation.url)
        done = [s.action for s in past]
        action = choose_action(observation, done, Random(seed), self.memory)
        return Step(observation=observation, action=action)


def page_event(job: Job, past: tuple[Step, ...], page: Observation) -> Event:
    """What is known once a page is seen."""
    if not past:
        return Event(visit=job.number, n=0, url=job.url, seed=job.seed, page=page)
    last = past[-1]
    return Event(
        visit=job.number, n=len(past), action=last.action, fault=last.fault, page=page
    )  # fmt: skip


async def make_visit(
    env: Environment,
    job: Job,
    memory: Memory,
    saw: Saw,
    turn: Callable[[str], Awaitable[None]],
) -> Event:
    """Go there, act 3 to 10 times, and tell of every page; returns the end of the visit, which is not yet told.

    Raises:
        MissingDependencyError: there is no browser. StorageError: what was seen cannot be written.
    """
    steps = Random(derive_seed(job.seed, "length")).randint(job.min_steps, job.max_steps)
    agent = CrawlAgent(job=job, memory=memory, saw=saw, turn=turn)
    await turn(job.url)
    trajectory = await run_episode(
        env,
        agent,
        trajectory_id=f"crawl/{job.number}",
        task=job.url,
        seed=0,
        config=EpisodeConfig(max_steps=steps),
        behaviour=Behaviour.RANDOM,
        episode_seed=job.seed,
    )
    if trajectory.steps and trajectory.final is not None:
        await saw(page_event(job, trajectory.steps, trajectory.final))
    return _end(job, trajectory)


def _end(job: Job, trajectory: Trajectory) -> Event:
    unseen = trajectory.steps[-1] if trajectory.steps and trajectory.final is None else None
    return Event(
        visit=job.number,
        n=len(trajectory.steps) - (unseen is not None),
        action=unseen.action if unseen is not None else None,
        end=trajectory.reason,
        detail=trajectory.detail[:500],
    )
