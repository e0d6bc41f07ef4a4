"""How long a dream lasts."""

from dataclasses import dataclass

from dynaweb.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamConfig:
    """When a dream ends by itself."""

    max_steps: int = 5
    """Actions before the dream is cut (DynaWeb 4.1: 5; its figure 3a peaks at 4 to 5)."""
    stop_loops: bool = True
    """Cut a dream that goes A-B-A-B between two pages (mode collapse of world model or policy; ours)."""
    show_goal: bool = False
    """Tell the world model the goal. Off: a model that knows what is wanted tends to grant it."""
    max_batch: int = 256
    """Most questions to the sampler or the world model in one batch."""

    def __post_init__(self) -> None:
        if not 1 <= self.max_steps <= 100:
            raise UserError(f"dream max_steps {self.max_steps!r} is out of range: use 1 to 100")
        if self.max_batch < 1:
            raise UserError(f"dream max_batch {self.max_batch!r} is out of range: use 1 or more")
