"""How many steps a training makes, and how fast it learns at each."""

import math
from collections.abc import Sequence

from dynaweb.train.batch import epoch_batches
from dynaweb.train.config import FitConfig


def learning_rate_scale(step: int, planned: int | None, config: FitConfig) -> float:
    """Share of the peak rate at a step (counted from 0): a rise, then a plateau and a line to zero, or half a wave.

    The plateau lets a training on the clock decide late how many steps it makes: what came before
    does not depend on that number.
    """
    warmup = config.warmup_steps
    if config.warmup_fraction and planned is not None:
        warmup = round(config.warmup_fraction * planned)
    rise = min(1.0, (step + 1) / warmup) if warmup else 1.0
    if planned is None:
        return rise
    if config.schedule == "cosine":
        gone = max(0.0, (step - warmup) / max(planned - warmup, 1))
        return rise * 0.5 * (1.0 + math.cos(math.pi * min(gone, 1.0)))
    if config.decay_fraction == 0.0:
        return rise
    return rise * min(1.0, (planned - step) / (planned * config.decay_fraction))


def planned_steps(config: FitConfig, lengths: Sequence[int]) -> int | None:
    """How many steps a configuration makes on examples of these lengths; None when the clock decides."""
    if config.steps is not None:
        return config.steps
    if config.epochs is None:
        return None
    whole = int(config.epochs)
    full = sum(
        len(epoch_batches(lengths, config.batch_tokens, config.seed, e)) for e in range(whole)
    )
    part = (config.epochs - whole) * len(
        epoch_batches(lengths, config.batch_tokens, config.seed, whole)
    )
    return max(1, full + round(part))
