"""From a batch of scored attempts to new weights: several optimiser steps, micro-batches of whole attempts.

An attempt that fits the token budget goes through the direct formula. A longer one goes in parts and
still gets the exact gradient: a first pass without gradient finds its ratio, a second pass uses the
GSPO-token form (trajectory level) or scores its parts by themselves (step and token level).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.source import Source
from dynaweb.batch.summary import Metrics, mean_or_none
from dynaweb.batch.tokens import TrainTrajectory
from dynaweb.errors import TrainingError
from dynaweb.gspo.batch import (
    Chunk,
    Scored,
    attempt_logps,
    gather_tokens,
    micro_batches,
    padded_tokens,
    parts,
    whole,
)
from dynaweb.gspo.config import Level, UpdateConfig
from dynaweb.gspo.demonstrations import Demonstrations
from dynaweb.gspo.loss import gspo_chunk_loss, gspo_loss, kl_to_reference, unit_log_ratio, units_of
from dynaweb.records.seeds import derive_seed
from dynaweb.train.logprob import flat_logprobs
from dynaweb.train.optimizer import Optimizer


@dataclass(slots=True)
class Tally:
    """What the optimiser steps of one update saw; summed up by `metrics`."""

    loss: float = 0.0
    kl: float = 0.0
    steps: int = 0
    sampler_gap: float | None = None
    shown: list[float] = field(default_factory=list)
    """Loss on demonstrations, one entry an optimiser step."""
    grad_norms: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    clipped: dict[tuple[Source, bool], list[bool]] = field(default_factory=dict)
    """(source, advantage is positive) -> one entry a unit."""

    def note(
        self, attempts: Sequence[Scored], ratio: list[float], clip: list[bool], owner: list[int]
    ) -> None:
        """Count the units of one forward pass."""
        self.ratios += ratio
        for was_clipped, n in zip(clip, owner, strict=True):
            attempt = attempts[n].attempt
            key = (attempt.source, attempt.advantage > 0.0)
            self.clipped.setdefault(key, []).append(was_clipped)

    def metrics(self) -> Metrics:
        """Means over the update's optimiser steps and units."""
        units = [c for cs in self.clipped.values() for c in cs]
        spread = [abs(math.log(r)) for r in self.ratios]
        m: Metrics = {
            "update/loss": self.loss / self.steps if self.steps else None,
            "update/kl": self.kl / self.steps if self.steps else None,
            "update/demonstrations_loss": mean_or_none(self.shown),
            "update/sampler_gap": self.sampler_gap,
            "update/optimizer_steps": float(self.steps),
            "update/grad_norm": mean_or_none(self.grad_norms),
            "update/ratio_mean": mean_or_none(self.ratios),
            "update/abs_log_ratio_mean": mean_or_none(spread),
            "update/ratio_is_one": float(max(spread) < RATIO_IS_ONE) if spread else None,
            "update/clip_fraction": mean_or_none([float(c) for c in units]),
        }
        for positive, sign in ((True, "positive"), (False, "negative")):
            hit = [c for (_, p), cs in self.clipped.items() if p is positive for c in cs]
            m[f"update/clip_fraction_{sign}"] = mean_or_none([float(c) for c in hit])
        for source in Source:
            hit = [c for (s, _), cs in self.clipped.items() if s is source for c in cs]
            m[f"{source.value}/clip_fraction"] = mean_or_none([float(c) for c in hit])
        return m


RATIO_IS_ONE = 1e-6
"""Largest |log ratio| that is still rounding: nothing was off-policy, so the clip had no part in it."""


def score_old(
    policy: PreTrainedModel,
    reference: PreTrainedModel | None,
    attempts: Sequence[TrainTrajectory],
    config: UpdateConfig,
) -> list[Scored]:
    """pi_old of every token, by the trainer's own code path; the sampler's numbers are never used."""
    budget, temperature = config.token_budget, config.temperature
    old = attempt_logps(policy, attempts, budget=budget, temperature=temperature)
    if reference is None:
        return [Scored(attempt=a, old_logp_T=o) for a, o in zip(attempts, old, strict=True)]
    first = attempt_logps(reference, attempts, budget=budget, temperature=temperature)
    return [
        Scored(attempt=a, old_logp_T=o, reference_logp_T=r)
        for a, o, r in zip(attempts, old, first, strict=True)
    ]


def update_policy(
    model: PreTrainedModel,
    optimizer: Optimizer,
    attempts: Sequence[TrainTrajectory],
    config: UpdateConfig,
    *,
    seed: int,
    steps_before: int,
    reference: PreTrainedModel | None = None,
    shown: Demonstrations | None = None,
) -> Metrics:
    """Train on one batch of attempts.

    Args:
        model: the policy; changed in place, kept in evaluation mode (no dropout).
        optimizer: of the policy.
        attempts: with advantages; those of exactly 0 still count in the denominator.
        config: loss and steps.
        seed: which attempt goes into which mini-batch.
        steps_before: optimiser steps of earlier updates, for the warm-up.
        reference: the initial policy, for the KL term.
        shown: demonstrations, for the supervised term.

    Returns:
        Metrics of the update; empty of steps when there was nothing to train on.

    Raises:
        TrainingError: a gradient is not finite, or the sampler is not the policy that is trained.
    """
    model.eval()
    scored = score_old(model, reference if config.kl > 0.0 else None, attempts, config)
    gap = sampler_gap(scored)
    if gap is not None and gap > config.sampler_gap_limit:
        raise TrainingError(
            f"sampler and trainer differ by {gap:.3g} nats a token, the limit is {config.sampler_gap_limit}: they must hold the same weights and tokens"
        )
    tally = Tally(sampler_gap=gap)
    batches = shown.batches(steps_before) if shown is not None else iter(())
    for epoch in range(config.epochs):
        order = list(range(len(scored)))
        Random(derive_seed(seed, "mini", epoch)).shuffle(order)
        for batch in cut(order, config.mini_batches):
            accumulate(model, [scored[i] for i in batch], config, tally)
            if shown is not None and (demonstrated := next(batches, None)):
                tally.shown.append(shown.accumulate(model, demonstrated))
            rate = warm(steps_before + tally.steps, config.warmup_steps)
            tally.grad_norms.append(optimizer.step(rate))
            tally.steps += 1
    return tally.metrics()


def warm(steps: int, warmup_steps: int) -> float:
    """Share of the full learning rate after so many optimiser steps, in (0, 1]."""
    return min(1.0, (steps + 1) / (warmup_steps + 1))


def sampler_gap(scored: Sequence[Scored]) -> float | None:
    """Mean |difference| of a token's log-probability between sampler and trainer; None without dreams.

    Only dreams are fresh: live attempts were sampled from earlier weights, experts from none.
    """
    gaps = []
    for s in scored:
        if s.attempt.source is not Source.DREAM:
            continue
        sampled = [x for row in s.attempt.rows for x in row.sampled_logprobs]
        if len(sampled) == len(s.old_logp_T):
            gaps.append((s.old_logp_T.cpu() - torch.tensor(sampled)).abs())
    return float(torch.cat(gaps).mean()) if gaps else None


def cut(order: Sequence[int], count: int) -> list[Sequence[int]]:
    """Into at most `count` parts whose sizes differ by at most one; nothing is dropped."""
    count = min(count, len(order))
    return [order[i * len(order) // count : (i + 1) * len(order) // count] for i in range(count)]


def accumulate(
    model: PreTrainedModel, batch: Sequence[Scored], config: UpdateConfig, tally: Tally
) -> None:
    """Gradients of one optimiser step: the weighted mean over the batch's attempts."""
    total = float(sum(s.attempt.copies for s in batch))
    for indices in micro_batches([s.attempt for s in batch], config.token_budget):
        some = [batch[i] for i in indices]
        if len(some) == 1 and padded_tokens(some[0].attempt) > config.token_budget:
            _backward_in_parts(model, some[0], config, tally, total)
        else:
            _backward_whole(model, some, config, tally, total)


def _backward_whole(
    model: PreTrainedModel, some: Sequence[Scored], config: UpdateConfig, tally: Tally, total: float
) -> None:
    chunk = whole([s.attempt for s in some])
    advantage_N, weight_N, length_N = _columns(some, model.device)
    logp_T = flat_logprobs(model, chunk.rows, temperature=config.temperature)
    out = gspo_loss(
        logp_T,
        gather_tokens(chunk, [s.old_logp_T for s in some]),
        chunk.tokens,
        advantage_N,
        weight_N,
        level=config.level,
        clip=config.clip,
    )
    loss = (out.loss + _kl(logp_T, chunk, some, weight_N, length_N, config, tally, total)) / total
    loss.backward()
    tally.loss += float(loss.detach())
    tally.note(some, out.ratio_U.tolist(), out.clipped_U.tolist(), out.attempt_U.tolist())


def _backward_in_parts(
    model: PreTrainedModel, one: Scored, config: UpdateConfig, tally: Tally, total: float
) -> None:
    """The exact gradient of an attempt that is too long for one forward pass."""
    advantage_N, weight_N, length_N = _columns([one], model.device)
    budget, temperature = config.token_budget, config.temperature
    now_T = attempt_logps(model, [one.attempt], budget=budget, temperature=temperature)[0]
    tokens = whole([one.attempt]).tokens
    out = gspo_loss(
        now_T, one.old_logp_T, tokens, advantage_N, weight_N, level=config.level, clip=config.clip
    )
    log_ratio_N = unit_log_ratio(now_T, one.old_logp_T, units_of(tokens, Level.TRAJECTORY))
    tally.note([one], out.ratio_U.tolist(), out.clipped_U.tolist(), out.attempt_U.tolist())
    for chunk in parts(one.attempt, budget):
        logp_T = flat_logprobs(model, chunk.rows, temperature=temperature)
        if config.level is Level.TRAJECTORY:
            loss = gspo_chunk_loss(
                logp_T, chunk.tokens, log_ratio_N, length_N, advantage_N, weight_N, clip=config.clip
            )
        else:
            loss = _part_of_units(logp_T, chunk, one, config, advantage_N, weight_N)
        kl = _kl(logp_T, chunk, [one], weight_N, length_N, config, tally, total)
        loss = (loss + kl) / total
        loss.backward()
        tally.loss += float(loss.detach())


def _part_of_units(
    logp_T: Float[Tensor, " T"],
    chunk: Chunk,
    one: Scored,
    config: UpdateConfig,
    advantage_N: Float[Tensor, " N"],
    weight_N: Float[Tensor, " N"],
) -> Float[Tensor, ""]:
    """Steps and tokens are whole inside a part; only their share of the attempt is smaller."""
    rows = len(chunk.rows) / len(one.attempt.rows)
    tokens = len(logp_T) / one.attempt.policy_tokens
    share = rows if config.level is Level.STEP else tokens
    out = gspo_loss(
        logp_T,
        gather_tokens(chunk, [one.old_logp_T]),
        chunk.tokens,
        advantage_N,
        weight_N,
        level=config.level,
        clip=config.clip,
    )
    return out.loss * share


def _kl(
    logp_T: Float[Tensor, " T"],
    chunk: Chunk,
    some: Sequence[Scored],
    weight_N: Float[Tensor, " N"],
    length_N: Float[Tensor, " N"],
    config: UpdateConfig,
    tally: Tally,
    total: float,
) -> Float[Tensor, ""]:
    first = [s.reference_logp_T for s in some if s.reference_logp_T is not None]
    if len(first) != len(some):
        return torch.zeros((), device=logp_T.device)
    kl = kl_to_reference(logp_T, gather_tokens(chunk, first), chunk.tokens, weight_N, length_N)
    tally.kl += float(kl.detach()) / total
    return config.kl * kl


def _columns(some: Sequence[Scored], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Advantage, weight and policy tokens of each attempt, as (N,) tensors."""
    rows = [(s.attempt.advantage, s.attempt.copies, s.attempt.policy_tokens) for s in some]
    table_N3 = torch.tensor(rows, dtype=torch.float32, device=device)
    return table_N3[:, 0], table_N3[:, 1], table_N3[:, 2]
