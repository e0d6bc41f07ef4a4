"""Settings and metrics of reinforcing a world model on what really happened. Importable without torch."""

from dataclasses import dataclass, field
from enum import StrEnum

from dynaweb.errors import UserError
from dynaweb.gspo.config import UpdateConfig


class Reward(StrEnum):
    """How a predicted change is graded against the real one; words that are no change get 0."""

    F1 = "f1"
    """1 for the real page, else element F1 of the change (RLVR-World, arXiv 2505.13934; its exact formula is *unverified*)."""
    EXACT = "exact"
    """1 for the real page, else 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RlvrConfig:
    """GRPO on the verifiable reward of a structured change (RLVR-World).

    Example:
        RlvrConfig(steps=50, questions=16)
    """

    steps: int = 50
    """Batches of questions, at least 1."""
    questions: int = 8
    """Transitions asked about in a step, at least 1."""
    replies: int = 8
    """Replies to each: the group whose mean is the baseline; at least 2."""
    reward: Reward = Reward.F1
    """What is rewarded."""
    max_new_tokens: int = 160
    """Longest reply, in tokens; one that is cut off gets 0."""
    update: UpdateConfig = field(
        default_factory=lambda: UpdateConfig(mini_batches=1, kl=0.01, warmup_steps=5)
    )
    """How a batch becomes new weights (ours: one optimiser step, a light pull towards the model as it was)."""
    checkpoint_every: int = 5
    """Steps between checkpoints, at least 1; the last step always has one."""
    seed: int = 0
    """Of questions and replies."""

    def __post_init__(self) -> None:
        least = {"steps": 1, "questions": 1, "replies": 2, "max_new_tokens": 1, "checkpoint_every": 1}  # fmt: skip
        for name, low in least.items():
            if getattr(self, name) < low:
                raise UserError(f"rlvr {name} {getattr(self, name)!r}: use at least {low}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RlvrRow:
    """One step of reinforcing a world model, measured on the replies that it trained on."""

    step: int
    """Counted from 1."""
    reward: float
    """Mean reward of all replies, in [0, 1]."""
    exact_fraction: float
    """Replies that give the real page, of all."""
    invalid_fraction: float
    """Replies that are no change, or none that fits the page."""
    groups_no_variance: int
    """Questions whose replies all had the same reward: they teach nothing and are left out."""
    grad_norm: float | None
    """Before clipping; None when no group taught anything."""
    kl: float | None
    """Penalty term against the model as it was, nats a token."""
    elapsed_sec: float
    """Wall clock of this session so far."""
