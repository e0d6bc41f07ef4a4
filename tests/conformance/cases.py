"""What the suite needs to know of a world: how to make one, and what solves a task in it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from dynaweb.contracts import Environment
from dynaweb.records.action import Action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Start


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One world under test."""

    make: Callable[[], Awaitable[Environment]]
    task: str
    next_action: Callable[[str, Observation, int], Action]
    """(goal, page, steps done) -> the action that a solver takes."""
    n_steps: int
    """Actions that solve the task; at least 2."""
    start: Callable[[int], Awaitable[Start | None]]
    """Seed -> where to begin; None where the world makes its own first page."""
    button: str
    """Name of an enabled button on the first page."""
    disabled: str | None = None
    """Name of a disabled button there, if the page has one."""
