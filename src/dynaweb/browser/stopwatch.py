"""Where the time of an environment goes: seconds by part, for as long as the environment lives."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum


class Part(StrEnum):
    """What an environment does, in the order of an episode."""

    TAB = "tab"
    """Waiting for a tab to begin in."""
    OPEN = "open"
    """Loading the task's page and starting its episode."""
    ACT = "act"
    SETTLE = "settle"
    """Letting the page finish what was begun."""
    OBSERVE = "observe"
    """Reading page, goal and reward."""


class Stopwatch:
    """Seconds by part."""

    def __init__(self) -> None:
        """At zero."""
        self.sec: dict[Part, float] = defaultdict(float)

    @contextmanager
    def part(self, part: Part) -> Iterator[None]:
        """Count what the block takes, however it ends."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.sec[part] += time.perf_counter() - begun
