"""A script as an agent."""

from dataclasses import dataclass

from dynaweb.collect.page import Script, StuckError, see
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Expert:
    """A scripted agent for one task; satisfies `contracts.Agent`."""

    script: Script
    steps: int
    """Actions that it needs at most, where the page sets a bound; else the most it has needed on 60 seeds."""
    version: str = "expert-1"
    """Written on trajectories; a change of any script's behaviour changes it."""

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        """What the script does on this page; a step without an action when it is lost."""
        try:
            thought, action = self.script(see(goal, past, observation))
        except StuckError as error:
            return Step(observation=observation, thought=str(error), fault=Fault.NO_ACTION)
        return Step(observation=observation, thought=thought, action=action)
