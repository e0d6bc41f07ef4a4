"""What `dynaweb bench train` measures, and how it takes time. Importable without torch."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from dynaweb.bench.speed.spread import Spread, spread
from dynaweb.errors import UserError
from dynaweb.lm.config import ModelConfig

PARTS = ("update", "trl", "sampling", "memory")


class Size(StrEnum):
    """Which model samples."""

    DEFAULT = "default"
    BIG = "30M"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainWish:
    """What to measure; lengths are those of MiniWoB++ prompts where nothing else is said.

    Example:
        TrainWish(repeats=1, groups=1)
    """

    repeats: int = 5
    """Measurements of each side, in turn, after one that does not count."""
    threads: int = 1
    """Of torch, on every side."""
    model: ModelConfig = field(default_factory=ModelConfig)
    """Policy of the parts `update`, `memory` and of the small half of `sampling`."""
    vocabulary: int = 2048
    groups: int = 8
    """Groups of 8 attempts of 3 replies in one update."""
    token_budget: int = 8192
    """Positions of one forward pass in an update."""
    rival_model: ModelConfig = field(
        default_factory=lambda: ModelConfig(hidden=576, layers=6, heads=9, ffn=1536)
    )
    """Policy that TRL updates too; small beside its vocabulary, as a small pretrained one is."""
    rival_vocabulary: int = 49_152
    rival_rows: int = 4
    """Attempts of one prompt and one reply in an update; an even number."""
    rival_prompt: int = 1024
    rival_reply: int = 64
    big_model: ModelConfig = field(
        default_factory=lambda: ModelConfig(hidden=512, layers=8, heads=8, ffn=1408)
    )
    """About 30 million parameters with its vocabulary: the big half of `sampling`."""
    big_vocabulary: int = 8192
    sample_group: int = 32
    """Replies to one prompt."""
    sample_prompt: int = 512
    sample_reply: int = 48
    memory_groups: int = 2
    """Groups in the smallest update whose memory is measured; then 4 and 16 times as many."""

    def __post_init__(self) -> None:
        for name in ("repeats", "threads", "groups", "token_budget", "rival_rows", "sample_group"):
            if getattr(self, name) < 1:
                raise UserError(f"bench train {name} is {getattr(self, name)!r}: use at least 1")
        if self.rival_rows % 2:
            raise UserError(f"bench train rival_rows is {self.rival_rows!r}: use an even number")


@dataclass(frozen=True, slots=True, kw_only=True)
class Versus:
    """One thing done by us and by another, in turn, in processor seconds of one process."""

    what: str
    other: str
    """What the other side is."""
    tokens: int
    """Tokens of one measurement: trained ones, prompts with them, or written ones."""
    ours: Spread
    """Tokens a second."""
    theirs: Spread
    """Tokens a second."""
    times: Spread
    """Ours by theirs, pair by pair."""


def versus(
    what: str,
    other: str,
    tokens: int,
    ours: Callable[[], float],
    theirs: Callable[[], float],
    *,
    repeats: int,
    said: Callable[[int, float], None],
) -> Versus:
    """Take both sides in turn; the first pair warms up and does not count.

    Args:
        what: name of what is done.
        other: name of the other side.
        tokens: of one measurement, the same for both sides.
        ours: does it once; seconds.
        theirs: the same of the other side.
        repeats: pairs that count.
        said: told the pairs done and the median ratio so far.
    """
    pairs: list[tuple[float, float]] = []
    for number in range(repeats + 1):
        # who goes first changes in turn
        sides = (ours, theirs) if number % 2 else (theirs, ours)
        took = {side: side() for side in sides}
        pairs.append((took[ours], took[theirs]))
        said(number + 1, median(b / a for a, b in pairs))
    kept = pairs[1:]
    return Versus(
        what=what,
        other=other,
        tokens=tokens,
        ours=spread([tokens / a for a, _ in kept]),
        theirs=spread([tokens / b for _, b in kept]),
        times=spread([b / a for a, b in kept]),
    )


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of one call in this process, all threads together."""
    began = time.process_time()
    work()
    return time.process_time() - began
