"""Log-probabilities of given completions, with gradients: the one place that says what a model thinks.

Rows are padded on the right and no attention mask is used: with causal attention nothing that
counts can see the padding. Only the positions that predict a completion token go through the
output layer, which is most of the work at a small width.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.lm.model import hidden_states, output_logits

# Shape suffixes: B = rows, T = positions, N = completion tokens of all rows, row after row.


@runtime_checkable
class Row(Protocol):
    """A prompt and its completion: an `Example` or a `Generation`."""

    @property
    def prompt_ids(self) -> tuple[int, ...]:
        """At least one token."""
        ...

    @property
    def completion_ids(self) -> tuple[int, ...]:
        """At least one token."""
        ...


def completion_logprobs(
    model: PreTrainedModel, rows: Sequence[Row], *, temperature: float = 1.0
) -> tuple[Float[Tensor, " T"], ...]:
    """Natural log-probability of each completion token, one tensor a row; differentiable.

    Args:
        model: A causal LM; dropout must be off (`model.eval()`).
        rows: Prompts and completions, all in one forward pass.
        temperature: Of the distribution that the completions were sampled from; above 0.

    Raises:
        ValueError: an empty prompt or completion, or a temperature of 0.
    """
    logp_N = flat_logprobs(model, rows, temperature=temperature)
    return torch.split(logp_N, [len(r.completion_ids) for r in rows])


def flat_logprobs(
    model: PreTrainedModel, rows: Sequence[Row], *, temperature: float = 1.0
) -> Float[Tensor, " N"]:
    """As `completion_logprobs`, all rows in one tensor, row after row."""
    if temperature <= 0.0:
        raise ValueError(f"temperature {temperature!r}: log-probabilities need one above 0")
    empty = [i for i, r in enumerate(rows) if not r.prompt_ids or not r.completion_ids]
    if empty or not rows:
        raise ValueError(f"rows {empty} of {len(rows)} have an empty prompt or completion")
    return laid_logprobs(model, *layout(rows), temperature=temperature)


def laid_logprobs(
    model: PreTrainedModel,
    ids_BT: Int[Tensor, "B T"],
    row_N: Int[Tensor, " N"],
    place_N: Int[Tensor, " N"],
    *,
    temperature: float = 1.0,
) -> Float[Tensor, " N"]:
    """As `flat_logprobs`, of rows that `layout` has laid out."""
    device = model.device
    states_BTH = hidden_states(model, ids_BT.to(device))
    logits_NV = output_logits(model, states_BTH[row_N.to(device), place_N.to(device)])
    if temperature != 1.0:
        logits_NV = logits_NV / temperature
    target_N = ids_BT[row_N, place_N + 1].to(device)
    return -torch.nn.functional.cross_entropy(logits_NV, target_N, reduction="none")


def layout(rows: Sequence[Row]) -> tuple[Int[Tensor, "B T"], Int[Tensor, " N"], Int[Tensor, " N"]]:
    """Ids padded on the right; row and position that predict each completion token."""
    longest = max(len(r.prompt_ids) + len(r.completion_ids) for r in rows)
    ids_BT = torch.zeros(len(rows), longest, dtype=torch.long)
    for b, r in enumerate(rows):
        ids = torch.tensor(r.prompt_ids + r.completion_ids)
        ids_BT[b, : len(ids)] = ids
    counts_B = torch.tensor([len(r.completion_ids) for r in rows])
    firsts_B = torch.tensor([len(r.prompt_ids) - 1 for r in rows])
    row_N = torch.repeat_interleave(torch.arange(len(rows)), counts_B)
    within_N = torch.arange(len(row_N)) - torch.repeat_interleave(
        counts_B.cumsum(0) - counts_B, counts_B
    )
    return ids_BT, row_N, firsts_B[row_N] + within_N
