"""Trajectories as questions to a world model, each with its true answer."""

from collections.abc import Iterator
from dataclasses import dataclass

from dynaweb.contracts import Imagine
from dynaweb.records.action import Action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault, Reason, Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A question whose answer was seen in a browser."""

    task: str
    seed: int
    goal: str
    trajectory_id: str
    index: int
    """Which step of the trajectory, from 0."""
    history: tuple[Observation, ...]
    """Pages up to the one acted on, that one last."""
    done: tuple[Action | None, ...]
    """What was done on the pages before that one."""
    action: Action
    next_page: Observation
    terminal: bool
    """The episode ended with this action."""
    fault: Fault | None
    """Why the browser refused the action; None when it did it."""

    @property
    def asked(self) -> Imagine:
        """The question; greedy, so its seed is no matter."""
        return Imagine(history=self.history, action=self.action, done=self.done, goal=self.goal)


def known_steps(trajectory: Trajectory) -> Iterator[Known]:
    """Every step that has an action and a page after it, in order."""
    pages = [s.observation for s in trajectory.past + trajectory.steps]
    actions = [s.action for s in trajectory.past + trajectory.steps]
    after = [s.observation for s in trajectory.steps[1:]]
    if trajectory.final is not None:
        after.append(trajectory.final)
    ended = trajectory.reason in (Reason.TASK_ENDED, Reason.ANSWERED)
    for i, (step, page) in enumerate(zip(trajectory.steps, after, strict=False)):
        if step.action is None:
            continue
        yield Known(
            task=trajectory.task,
            seed=trajectory.seed,
            goal=trajectory.goal,
            trajectory_id=trajectory.trajectory_id,
            index=i,
            history=tuple(pages[: len(trajectory.past) + i + 1]),
            done=tuple(actions[: len(trajectory.past) + i]),
            action=step.action,
            next_page=page,
            terminal=ended and i == len(trajectory.steps) - 1,
            fault=step.fault,
        )
