"""Agents that explore: by chance alone (WebWorld 3.1, random crawl), or an expert that errs."""

from dataclasses import dataclass
from random import Random

from dynaweb.axtree.tree import read_tree
from dynaweb.collect.chance import misread, near_miss, random_action
from dynaweb.contracts import Agent
from dynaweb.errors import UserError
from dynaweb.records.action import Click, Noop
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseConfig:
    """How an expert errs. Of its attempts, some follow a misread goal to the end; in the others, some steps go wrong."""

    misread_fraction: float = 0.3
    """Attempts that follow another goal that the page could have, in [0, 1]."""
    slip_fraction: float = 0.25
    """Steps of the other attempts that go wrong, in [0, 1]."""
    invalid_fraction: float = 0.05
    """Of random actions, those that cannot work, in [0, 1]."""

    def __post_init__(self) -> None:
        for name in ("misread_fraction", "slip_fraction", "invalid_fraction"):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise UserError(f"noise {name} {value!r} is out of range: use 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomAgent:
    """Does something that the page offers; satisfies `contracts.Agent`."""

    invalid_fraction: float = 0.05
    """Actions that cannot work, in [0, 1]."""
    version: str = "random-1"

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        """One action by chance."""
        tree = read_tree(observation.tree)
        action = random_action(goal, tree, Random(seed), self.invalid_fraction)
        return Step(observation=observation, action=action)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """Looks at the first page and leaves it as it is: a place to dream from, for one real step (ours)."""

    version: str = "opener-1"

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        """Nothing."""
        return Step(observation=observation, action=Noop())


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyExpert:
    """An expert that errs, as an agent of some skill would; satisfies `contracts.Agent`.

    One object is one attempt: `attempt_seed` decides what it misreads.
    """

    expert: Agent
    attempt_seed: int
    config: NoiseConfig

    @property
    def version(self) -> str:
        """Names the expert and how much it errs."""
        c = self.config
        return f"noisy-1({self.expert.version},{c.misread_fraction:g},{c.slip_fraction:g})"

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        """What the expert would do, or something beside it."""
        rng = Random(derive_seed(seed, "noise"))
        read = self._read(goal, (past[0].observation if past else observation).tree)
        step = await self.expert.decide(read, past, observation, seed)
        slips = read == goal and rng.random() < self.config.slip_fraction
        if step.action is not None and not slips:
            return Step(observation=observation, thought=step.thought, action=step.action)
        return self._slip(goal, observation, step, rng)

    def _read(self, goal: str, first_tree: str) -> str:
        rng = Random(self.attempt_seed)
        if rng.random() >= self.config.misread_fraction:
            return goal
        return misread(goal, read_tree(first_tree), rng)

    def _slip(self, goal: str, observation: Observation, step: Step, rng: Random) -> Step:
        tree = read_tree(observation.tree)
        kind = rng.random()
        buttons = [n for n in tree if n.role == "button" and n.bid is not None]
        if step.action is not None and kind < 0.6:
            missed = near_miss(step.action, tree, rng)
            if missed is not None:
                return Step(observation=observation, action=missed)
        if buttons and kind < 0.8:  # skip what is left, and submit
            return Step(observation=observation, action=Click(str(buttons[-1].bid)))
        action = random_action(goal, tree, rng, self.config.invalid_fraction)
        return Step(observation=observation, action=action)
