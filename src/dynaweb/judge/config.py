"""How the judge decides."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dynaweb.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """What a probability of success comes to: success, failure, or nothing that could be said."""

    success: float = 0.5
    """Least probability that counts as success; `calibrate` may put it a hair above 1, so that nothing does."""
    failure: float = 0.5
    """A probability below this counts as failure. Between the two the verdict is unknown: an attempt that
    nobody can tell teaches nothing, where a guess would reward failures or punish successes (ours)."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.failure <= self.success <= 1.01:
            raise UserError(
                f"judge bar of {self.failure!r} for failure and {self.success!r} for success is out of range: use 0 <= failure <= success <= 1"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConfig:
    """Settings of verdicts.

    Example:
        JudgeConfig(bar=Bar(success=0.83, failure=0.4))
    """

    bar: Bar = Bar()
    """Where verdicts change; set by `calibrate`."""
    by_task: Mapping[str, Bar] = field(default_factory=dict)
    """Task -> a bar of its own, where held-out attempts were enough to set one (`calibrate_tasks`)."""
    answers_count: bool = False
    """Whether a message to the user can fulfil a task. Off for tasks that the page itself ends: there,
    an agent that only says that it is done has done nothing (papers F14)."""
    max_prompt_tokens: int = 1024
    """Longest question in tokens; of a longer one the verdict is unknown, never a guess from a part."""

    def __post_init__(self) -> None:
        if self.max_prompt_tokens < 1:
            raise UserError(
                f"judge max_prompt_tokens {self.max_prompt_tokens!r} is out of range: use 1 or more"
            )

    def bar_of(self, task: str) -> Bar:
        """The task's own bar, or the common one."""
        return self.by_task.get(task, self.bar)
