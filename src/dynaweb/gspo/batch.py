"""Attempts as tensors for one forward pass, and log-probabilities by the trainer's own code path.

pi, pi_old and the reference all come from here, with the same kernel, precision and padding rule: the
band of the ratio is narrower than what any of those changes (engines differ by 10 times the band in
half precision).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.tokens import Row, TrainTrajectory
from dynaweb.gspo.loss import TokenMap
from dynaweb.train.batch import split_batch
from dynaweb.train.logprob import flat_logprobs

PASS_COST = 256
"""What a forward and backward pass costs beside its positions, in positions; about right for 2 to 30 million parameters on a CPU."""

MOST_CUTS = 64
"""Places where rows sorted by length may be cut; bounds the search."""


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


def padded_tokens(attempts: Iterable[TrainTrajectory]) -> int:
    """Positions that the attempts' rows take in passes of like length."""
    lengths = [row_length(row) for attempt in attempts for row in attempt.rows]
    return sum(len(part) * lengths[part[-1]] for part in like_lengths(lengths))


def micro_batches(attempts: Sequence[TrainTrajectory], budget: int) -> Iterator[list[int]]:
    """Indices of whole attempts of like row length that fit the budget together; a longer one stands alone.

    Weighted sums are taken over the whole batch, so how it is cut changes nothing but rounding.
    """
    order = sorted(range(len(attempts)), key=lambda i: max(row_length(r) for r in attempts[i].rows))
    part: list[int] = []
    rows = 0
    for i in order:
        longest = max(row_length(r) for r in attempts[i].rows)
        rows += len(attempts[i].rows)
        # sorted: the newest attempt has the longest row, and side by side is never less than like by like
        if (
            part
            and rows * longest > budget
            and padded_tokens(attempts[j] for j in (*part, i)) > budget
        ):
            yield part
            part, rows = [], len(attempts[i].rows)
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
    rows = [row for attempt in attempts for row in attempt.rows]
    lengths = [row_length(row) for row in rows]
    order = sorted(range(len(rows)), key=lengths.__getitem__)
    logp_of: dict[int, Tensor] = {}
    for part in split_batch(order, lengths, budget):
        logp_T = chunk_logprobs(model, [rows[i] for i in part], temperature=temperature)
        sizes = [len(rows[i].completion_ids) for i in part]
        logp_of.update(zip(part, torch.split(logp_T, sizes), strict=True))
    if not rows:
        return []
    whole_T = torch.cat([logp_of[i] for i in range(len(rows))])
    return list(torch.split(whole_T, [a.policy_tokens for a in attempts]))


def chunk_logprobs(
    model: PreTrainedModel, rows: Sequence[Row], *, temperature: float = 1.0
) -> Float[Tensor, " T"]:
    """`flat_logprobs` of rows of any length, each padded only to those of like length; differentiable.

    The rows of an attempt differ in length, and padding them to the longest is work thrown away. Several
    passes of like rows, under one loss, give the same values and gradient and hold no more positions.

    Args:
        model: in evaluation mode.
        rows: as many as may be held at once.
        temperature: of the sampling distribution.
    """
    lengths = [row_length(row) for row in rows]
    logp_of: dict[int, Tensor] = {}
    for part in like_lengths(lengths):
        logp_T = flat_logprobs(model, [rows[i] for i in part], temperature=temperature)
        sizes = [len(rows[i].completion_ids) for i in part]
        logp_of.update(zip(part, torch.split(logp_T, sizes), strict=True))
    return torch.cat([logp_of[i] for i in range(len(rows))])


def like_lengths(lengths: Sequence[int], pass_cost: int = PASS_COST) -> list[list[int]]:
    """Cut rows into passes of like length: the cheapest cut at one of `MOST_CUTS` places, where a pass costs its padded positions and `pass_cost`.

    Args:
        lengths: positions of each row.
        pass_cost: what one more pass costs, in positions.

    Returns:
        Indices of every row once, shortest first.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    ends = [
        n
        for n in range(1, len(order) + 1)
        if n == len(order) or lengths[order[n]] != lengths[order[n - 1]]
    ]
    # the last end stays
    ends = ends[:: -len(ends) // MOST_CUTS][::-1]
    best, cut_at = {0: 0}, {}
    for end in ends:
        widest = lengths[order[end - 1]]
        best[end], cut_at[end] = min(
            (cost + (end - begin) * widest + pass_cost, begin) for begin, cost in best.items()
        )
    parts: list[list[int]] = []
    end = len(order)
    while end:
        parts.append(order[cut_at[end] : end])
        end = cut_at[end]
    return parts[::-1]


def gather_tokens(chunk: Chunk, logp: Sequence[Float[Tensor, " _"]]) -> Float[Tensor, " T"]:
    """The chunk's part of per-attempt token values."""
    return torch.cat([logp[n][where] for n, where in chunk.slices])


def _offsets(attempt: TrainTrajectory) -> list[int]:
    """Where each row's tokens begin in the attempt's token sequence."""
    starts = [0]
    for row in attempt.rows[:-1]:
        starts.append(starts[-1] + len(row.completion_ids))
    return starts
