"""An agent that does what it is told."""

from dynaweb.records.action import Action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step


class Scripted:
    """Takes the actions in turn, counted from where the attempt began."""

    version = "scripted"

    def __init__(self, actions: tuple[Action, ...], skip: int = 0) -> None:
        self._actions = actions
        self._skip = skip

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        return Step(observation=observation, action=self._actions[len(past) - self._skip])
