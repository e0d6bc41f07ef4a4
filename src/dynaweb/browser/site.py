"""What a set of tasks must say to be attempted in the browser. MiniWoB++ is the first."""

from dataclasses import dataclass
from typing import Protocol

from dynaweb.browser.page import LivePage
from dynaweb.contracts import StepResult
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How an attempt stands, by the site's own judgement."""

    done: bool
    success: bool | None
    """None when the site does not judge: an attempt at something open-ended, or one that a judge must look at."""
    raw_reward: float | None = None
    """The task's own graded reward; None when it has none."""


class Site(Protocol):
    """Tasks on pages."""

    @property
    def origins(self) -> tuple[str, ...]:
        """Addresses the agent may go to, without a trailing slash."""
        ...

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        """Open the task's first page and start the attempt.

        Raises:
            UserError: no such task or seed. BrowserError: the page is broken.
        """
        ...

    async def goal(self, live: LivePage, task: str) -> str:
        """What the user wants; asked once the page has settled.

        Raises:
            BrowserError: the page gives none.
        """
        ...

    async def standing(self, live: LivePage, task: str, *, ends: bool) -> Standing | None:
        """How the attempt stands; None when the agent has left the task's pages and that is a failure.

        Args:
            live: the active tab.
            task: which one.
            ends: the agent has just said that it is done, or that it cannot be done.

        Raises:
            BrowserError: the page is gone.
        """
        ...


def result_of(
    observation: Observation, fault: Fault | None, standing: Standing | None, *, ends: bool
) -> StepResult:
    """What came of an action.

    Args:
        observation: the page after it.
        fault: the policy's own fault with it.
        standing: how the attempt stands now; None when the agent has left the task's pages.
        ends: the agent has said that it is done.
    """
    if standing is None:
        return StepResult(
            observation=observation,
            fault=fault,
            reward=0.0,
            terminated=True,
            info={"left_page": 1.0},
        )
    over = standing.done or ends
    return StepResult(
        observation=observation,
        fault=fault,
        reward=float(standing.done and standing.success)
        if over and standing.success is not None
        else None,
        terminated=over,
        info={} if standing.raw_reward is None else {"raw_reward": standing.raw_reward},
    )
