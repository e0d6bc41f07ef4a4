"""Attempts as tensors for one forward pass, and log-probabilities by the trainer's own code path.

pi, pi_old and the reference all come from here, with the same kernel, precision and padding rule: the
band of the ratio is narrower than what any of those changes (engines differ by 10 times the band in
half precision).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.tokens import Row, TrainTrajectory
from dynaweb.gspo.loss import TokenMap
from dynaweb.train.batch import split_batch
from dynaweb.train.logprob import flat_logprobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """An attempt with what the policy thought of it when the attempt was made."""

    attempt: TrainTrajectory
    old_logp_T: Float[Tensor, " T"]
    """Natural log-probability of each policy token under pi_old, row after row."""
    reference_logp_T: Float[Tensor, " T"] | None = None
    """The same under the initial policy; None without a KL term."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Rows for one forward pass, and where their tokens belong."""

    rows: tuple[Row, ...]
    tokens: TokenMap
    slices: tuple[tuple[int, slice], ...]
    """Which tokens of which attempt the rows hold, in order of the rows."""


def row_length(row: Row) -> int:
    """Positions of a row."""
    return len(row.prompt_ids) + len(row.completion_ids)


def padded_tokens(attempt: TrainTrajectory) -> int:
    """Positions of the attempt's rows side by side."""
    return max(row_length(r) for r in attempt.rows) * len(attempt.rows)


def micro_batches(attempts: Sequence[TrainTrajectory], budget: int) -> Iterator[list[int]]:
    """Indices of whole attempts of like row length that fit one forward pass; a longer one stands alone.

    Weighted sums are taken over the whole batch, so how it is cut changes nothing but rounding.
    """
    order = sorted(range(len(attempts)), key=lambda i: max(row_length(r) for r in attempts[i].rows))
    part: list[int] = []
    for i in order:
        rows = sum(len(attempts[j].rows) for j in part) + len(attempts[i].rows)
        # sorted: the newest attempt has the longest row
        if part and rows * max(row_length(r) for r in attempts[i].rows) > budget:
            yield part
            part = []
        part.append(i)
    if part:
        yield part


def chunk_of(attempts: Sequence[TrainTrajectory], rows_of: Sequence[Sequence[int]]) -> Chunk:
    """Put rows together.

    Args:
        attempts: numbered from 0 in the token map.
        rows_of: for each attempt, which of its rows; may be none of them.
    """
    rows: list[Row] = []
    steps: list[int] = []
    owners: list[int] = []
    slices: list[tuple[int, slice]] = []
    for n, (attempt, chosen) in enumerate(zip(attempts, rows_of, strict=True)):
        starts = _offsets(attempt)
        for r in chosen:
            row = attempt.rows[r]
            length = len(row.completion_ids)
            steps += [len(rows)] * length
            owners += [n] * length
            slices.append((n, slice(starts[r], starts[r] + length)))
            rows.append(row)
    return Chunk(
        rows=tuple(rows),
        tokens=TokenMap(
            step_T=torch.tensor(steps),
            attempt_T=torch.tensor(owners),
            n_attempts=len(attempts),
        ),
        slices=tuple(slices),
    )


def whole(attempts: Sequence[TrainTrajectory]) -> Chunk:
    """All rows of all attempts."""
    return chunk_of(attempts, [range(len(a.rows)) for a in attempts])


def parts(attempt: TrainTrajectory, budget: int) -> Iterator[Chunk]:
    """The rows of one long attempt in several forward passes."""
    lengths = [row_length(r) for r in attempt.rows]
    for indices in split_batch(range(len(lengths)), lengths, budget):
        yield chunk_of([attempt], [indices])


@torch.no_grad()
def attempt_logps(
    model: PreTrainedModel,
    attempts: Sequence[TrainTrajectory],
    *,
    budget: int,
    temperature: float,
) -> list[Float[Tensor, " _"]]:
    """Log-probability of every policy token of every attempt, without gradient, in order.

    Args:
        model: pi_old or the reference, in evaluation mode.
        attempts: attempts.
        budget: most positions in one forward pass.
        temperature: of the sampling distribution.
    """
    result: list[Float[Tensor, " _"]] = [torch.empty(0)] * len(attempts)
    for indices in micro_batches(attempts, budget):
        some = [attempts[i] for i in indices]
        oversized = len(some) == 1 and padded_tokens(some[0]) > budget
        chunks = parts(some[0], budget) if oversized else iter([whole(some)])
        pieces = [flat_logprobs(model, c.rows, temperature=temperature) for c in chunks]
        sizes = [a.policy_tokens for a in some]
        for i, logp_T in zip(indices, torch.split(torch.cat(pieces), sizes), strict=True):
            result[i] = logp_T
    return result


def gather_tokens(chunk: Chunk, logp: Sequence[Float[Tensor, " _"]]) -> Float[Tensor, " T"]:
    """The chunk's part of per-attempt token values."""
    return torch.cat([logp[n][where] for n, where in chunk.slices])


def _offsets(attempt: TrainTrajectory) -> list[int]:
    """Where each row's tokens begin in the attempt's token sequence."""
    starts = [0]
    for row in attempt.rows[:-1]:
        starts.append(starts[-1] + len(row.completion_ids))
    return starts
