"""How the judge decides."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dynaweb.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConfig:
    """Settings of verdicts.

    Example:
        JudgeConfig(threshold=0.83)
    """

    threshold: float = 0.5
    """Least probability of success that counts as success; set by `calibrate`, which may
    put it a hair above 1 when no other value refuses enough."""
    by_task: Mapping[str, float] = field(default_factory=dict)
    """Task -> a bar of its own, where held-out failures were enough to set one (`calibrate_tasks`)."""
    answers_count: bool = False
    """Whether a message to the user can fulfil a task. Off for tasks that the page itself ends: there,
    an agent that only says that it is done has done nothing (papers F14)."""
    max_prompt_tokens: int = 1024
    """Longest question in tokens; of a longer one the verdict is unknown, never a guess from a part."""

    def __post_init__(self) -> None:
        for bar in (self.threshold, *self.by_task.values()):
            if not 0.0 <= bar <= 1.01:
                raise UserError(f"judge threshold {bar!r} is out of range: use 0 to 1")
        if self.max_prompt_tokens < 1:
            raise UserError(
                f"judge max_prompt_tokens {self.max_prompt_tokens!r} is out of range: use 1 or more"
            )
