"""Gradients of one optimiser step: which loss reads which attempt, and how a long one is cut.

An attempt that fits the token budget goes through the direct formula. A longer one goes in parts and
still gets the exact gradient: a first pass without gradient finds its ratio, a second pass uses the
GSPO-token form (trajectory level) or scores its parts by themselves (step and token level).
"""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.expert import ExpertMode
from dynaweb.batch.tokens import Objective, TrainTrajectory
from dynaweb.gspo.batch import (
    Chunk,
    Scored,
    attempt_logps,
    chunk_logprobs,
    gather_tokens,
    micro_batches,
    padded_tokens,
    parts,
    whole,
)
from dynaweb.gspo.config import Level, UpdateConfig
from dynaweb.gspo.imitate import likelihood_loss, shaped_loss
from dynaweb.gspo.loss import gspo_chunk_loss, gspo_loss, kl_to_reference, unit_log_ratio, units_of
from dynaweb.gspo.tally import Tally


def accumulate(
    model: PreTrainedModel,
    batch: Sequence[Scored],
    config: UpdateConfig,
    tally: Tally,
    scale: float = 1.0,
    step: Sequence[Scored] | None = None,
) -> None:
    """Gradients of one optimiser step: the weighted mean over the step's attempts, times `scale`.

    Args:
        model: the policy.
        batch: attempts.
        config: loss.
        tally: is told.
        scale: of loss and gradients.
        step: all attempts of the step, where `batch` is a rank's share of them; the mean is over all.
    """
    total = float(sum(s.attempt.copies for s in (batch if step is None else step))) / scale
    ratio = [s for s in batch if s.attempt.objective is Objective.RATIO]
    for indices in micro_batches([s.attempt for s in ratio], config.token_budget):
        some = [ratio[i] for i in indices]
        if len(some) == 1 and padded_tokens([some[0].attempt]) > config.token_budget:
            _backward_in_parts(model, some[0], config, tally, total)
        else:
            _backward_whole(model, some, config, tally, total)
    shaped = [s for s in batch if s.attempt.objective is Objective.SHAPED]
    if shaped:
        _backward_shaped(model, shaped, config, tally, total)


def imitate(
    model: PreTrainedModel,
    batch: Sequence[TrainTrajectory],
    config: UpdateConfig,
    tally: Tally,
    steps: int,
    step: Sequence[TrainTrajectory] | None = None,
) -> None:
    """Add the gradient of the experts' likelihood: the mean over their tokens, at temperature 1, times its weight.

    Its denominator is its own, so that how many attempts stand beside it changes nothing. `sft` weighs it by mu
    (CHORD), `hard_only` takes it as it is (ReLIFT).

    Args:
        model: the policy.
        batch: experts.
        config: mode and weights.
        tally: is told.
        steps: optimiser steps made in the whole run.
        step: all experts of the step, where `batch` is a rank's share of them.
    """
    alone = config.experts.mode is ExpertMode.HARD_ONLY
    weight = 1.0 if alone else config.experts.mu(steps)
    total = float(sum(a.copies * a.policy_tokens for a in (batch if step is None else step)))
    told = 0.0
    for indices, chunk in _chunks(batch, config.token_budget):
        logp_T = chunk_logprobs(model, chunk.rows)
        weight_N = torch.tensor([float(batch[i].copies) for i in indices], device=logp_T.device)
        phi = config.experts.phi and not alone
        mean = likelihood_loss(logp_T, chunk.tokens.on(logp_T.device), weight_N, phi=phi) / total
        (mean * weight).backward()
        told += float(mean.detach())
    tally.imitated.append(told)
    tally.mu.append(weight)
    tally.loss += told * weight


def _chunks(attempts: Sequence[TrainTrajectory], budget: int) -> Iterator[tuple[list[int], Chunk]]:
    """Forward passes for a loss that is a sum over tokens, with the attempts in each; a long one goes in parts."""
    for indices in micro_batches(attempts, budget):
        some = [attempts[i] for i in indices]
        if len(some) == 1 and padded_tokens(some) > budget:
            for part in parts(some[0], budget):
                yield indices, part
        else:
            yield indices, whole(some)


def _backward_shaped(
    model: PreTrainedModel,
    batch: Sequence[Scored],
    config: UpdateConfig,
    tally: Tally,
    total: float,
) -> None:
    for indices, chunk in _chunks([s.attempt for s in batch], config.token_budget):
        some = [batch[i] for i in indices]
        advantage_N, weight_N, length_N = _columns(some, model.device)
        logp_T = chunk_logprobs(model, chunk.rows, temperature=config.temperature)
        gamma = config.experts.luffy_gamma
        loss = shaped_loss(
            logp_T, chunk.tokens.on(logp_T.device), advantage_N, weight_N, length_N, gamma=gamma
        )
        loss = (loss + _kl(logp_T, chunk, some, weight_N, length_N, config, tally, total)) / total
        loss.backward()
        tally.loss += float(loss.detach())
        tally.shaped += logp_T.detach().exp().tolist()


def _backward_whole(
    model: PreTrainedModel, some: Sequence[Scored], config: UpdateConfig, tally: Tally, total: float
) -> None:
    chunk = whole([s.attempt for s in some])
    advantage_N, weight_N, length_N = _columns(some, model.device)
    logp_T = chunk_logprobs(model, chunk.rows, temperature=config.temperature)
    out = gspo_loss(
        logp_T,
        gather_tokens(chunk, [s.old_logp_T for s in some]),
        chunk.tokens.on(logp_T.device),
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
    tokens = whole([one.attempt]).tokens.on(now_T.device)
    out = gspo_loss(
        now_T, one.old_logp_T, tokens, advantage_N, weight_N, level=config.level, clip=config.clip
    )
    log_ratio_N = unit_log_ratio(now_T, one.old_logp_T, units_of(tokens, Level.TRAJECTORY))
    tally.note([one], out.ratio_U.tolist(), out.clipped_U.tolist(), out.attempt_U.tolist())
    for chunk in parts(one.attempt, budget):
        logp_T = chunk_logprobs(model, chunk.rows, temperature=temperature)
        if config.level is Level.TRAJECTORY:
            loss = gspo_chunk_loss(
                logp_T,
                chunk.tokens.on(logp_T.device),
                log_ratio_N,
                length_N,
                advantage_N,
                weight_N,
                clip=config.clip,
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
        chunk.tokens.on(logp_T.device),
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
    kl = kl_to_reference(
        logp_T, gather_tokens(chunk, first), chunk.tokens.on(logp_T.device), weight_N, length_N
    )
    tally.kl += float(kl.detach()) / total
    return config.kl * kl


def _columns(some: Sequence[Scored], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Advantage, weight and policy tokens of each attempt, as (N,) tensors."""
    rows = [(s.attempt.advantage, s.attempt.copies, s.attempt.policy_tokens) for s in some]
    table_N3 = torch.tensor(rows, dtype=torch.float32, device=device)
    return table_N3[:, 0], table_N3[:, 1], table_N3[:, 2]
