"""How the world model is asked."""

from dataclasses import dataclass

from dynaweb.errors import UserError
from dynaweb.prompts.lines import MAX_DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldModelConfig:
    """Settings of prediction.

    Example:
        WorldModelConfig(max_new_tokens=200, retry_temperature=0.7)
    """

    temperature: float = 0.0
    """0 is greedy: the same page and action always give the same page."""
    max_new_tokens: int = 160
    """Longest change, in tokens; a change that is cut off is invalid."""
    max_prompt_tokens: int = 1024
    """Longest page and action, in tokens; a longer one is an invalid prediction, never a cut one."""
    retries: int = 1
    """Further tries, at `retry_temperature`, when the words are no change that fits the page."""
    retry_temperature: float = 0.7
    """Temperature of those tries."""
    show_goal: bool = False
    """Whether the model is told the goal; as it was trained (`ExamplesConfig.show_goal`)."""
    past_actions: int = 0
    """Actions before the present one that the model is shown; as it was trained (`ExamplesConfig.past_actions`)."""
    cache_entries: int = 20_000
    """Answers remembered, oldest forgotten first; 0 remembers none."""

    def __post_init__(self) -> None:
        ranges = {
            "temperature": (self.temperature, 0.0, 5.0),
            "retry_temperature": (self.retry_temperature, 0.0, 5.0),
            "max_new_tokens": (self.max_new_tokens, 1, 8192),
            "max_prompt_tokens": (self.max_prompt_tokens, 1, 1_000_000),
            "past_actions": (self.past_actions, 0, MAX_DONE),
            "retries": (self.retries, 0, 8),
            "cache_entries": (self.cache_entries, 0, 10_000_000),
        }
        for name, (value, low, high) in ranges.items():
            if not low <= value <= high:
                raise UserError(
                    f"world model {name} {value!r} is out of range: use {low} to {high}"
                )
