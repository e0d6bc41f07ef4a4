"""The supervised loss of one step, in as many passes as memory asks for."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.errors import TrainingError, UserError
from dynaweb.train.batch import Example, split_batch
from dynaweb.train.config import FitConfig, Normalise
from dynaweb.train.logprob import flat_logprobs


def accumulate_gradients(
    model: PreTrainedModel,
    batch: Sequence[Example],
    config: FitConfig,
    *,
    scale: float = 1.0,
    total: float | None = None,
) -> float:
    """Gradients of the loss of one step, times `scale`, in as many passes as memory asks for; returns the loss.

    Args:
        model: in training.
        batch: the step's rows.
        config: how they count, and how many fit in a pass.
        scale: of the gradients, not of the loss.
        total: `step_weight` of the whole step, where `batch` is a part of it.

    Raises:
        TrainingError: the loss is not finite.
    """
    if total is None:
        total = step_weight(batch, config.normalise)
    parts = list(split_batch(range(len(batch)), [e.length for e in batch], config.micro_tokens))
    loss = 0.0
    for part in parts:
        rows = [batch[i] for i in part]
        share_N = token_shares(rows, total, config.normalise).to(model.device)
        with arithmetic(model.device, config):
            part_loss = -(flat_logprobs(model, rows) * share_N).sum()
        value = part_loss.item()
        if not math.isfinite(value):
            model.zero_grad(set_to_none=True)
            raise not_finite(value)
        (part_loss * scale).backward()
        loss += value
    return loss


def step_weight(batch: Sequence[Example], normalise: Normalise) -> float:
    """What the loss of a step is divided by: its learnt tokens or its examples, by weight."""
    return sum(e.weight * (e.learnt if normalise == "token" else 1) for e in batch)


def token_shares(
    rows: Sequence[Example], total: float, normalise: Normalise
) -> Float[Tensor, " N"]:
    """Share of every reply token in the loss of its step, row after row; 0 for one that is not learnt."""
    shares = [e.weight / total / (1 if normalise == "token" else e.learnt) for e in rows]
    counts = torch.tensor([len(e.completion_ids) for e in rows])
    share_N = torch.repeat_interleave(torch.tensor(shares), counts)
    first = 0
    for e in rows:
        for begin, end in e.silent:
            share_N[first + begin : first + end] = 0.0
        first += len(e.completion_ids)
    return share_N


def arithmetic(device: torch.device, config: FitConfig) -> AbstractContextManager[object]:
    """In which precision a forward pass computes."""
    return torch.autocast(device.type, torch.bfloat16, enabled=config.precision == "bf16")


def check_precision(device: torch.device, config: FitConfig) -> None:
    """Refuse half precision where it is emulated.

    Raises:
        UserError: bf16 on a CPU.
    """
    if config.precision == "bf16" and device.type == "cpu":
        raise UserError(
            "precision 'bf16' on a CPU is hundreds of times slower than fp32, since it is emulated there: use precision 'fp32', or a GPU"
        )


def not_finite(loss: float) -> TrainingError:
    """The error of a loss that is not finite."""
    return TrainingError(
        f"training loss is {loss!r}: lower the learning rate, or look for a broken example"
    )
