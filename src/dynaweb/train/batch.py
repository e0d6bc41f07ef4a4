"""Examples, and how they are put together into steps of like length."""

import array
import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dynaweb.records.seeds import derive_seed

WINDOW_BATCHES = 64
"""Lengths are sorted within this many batches' worth of shuffled examples: little padding, still mixed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A prompt and the reply to learn.

    Example:
        Example(prompt_ids=(5, 9), completion_ids=(7, 1), weight=0.5)
    """

    prompt_ids: tuple[int, ...]
    """At least one token: the first token of the reply is predicted from it."""
    completion_ids: tuple[int, ...]
    """At least one token, the end token included when the reply should end."""
    weight: float = 1.0
    """How much the example counts, beside the others of its step; above 0."""
    silent: tuple[tuple[int, int], ...] = ()
    """Half-open ranges of the reply that are read and not learnt: turns of others in the middle of a conversation."""

    @property
    def length(self) -> int:
        """Positions it takes."""
        return len(self.prompt_ids) + len(self.completion_ids)

    @property
    def learnt(self) -> int:
        """Tokens that are learnt."""
        return len(self.completion_ids) - sum(end - begin for begin, end in self.silent)


def examples_checksum(examples: Iterable[Example]) -> str:
    """What makes two sequences of examples the same."""
    data = hashlib.sha256()
    for e in examples:
        ids = (len(e.prompt_ids), *e.prompt_ids, *e.completion_ids)
        data.update(array.array("q", ids).tobytes())
        data.update(repr(e.weight).encode())
        if e.silent:
            data.update(repr(e.silent).encode())
    return data.hexdigest()


def epoch_batches(
    lengths: Sequence[int], batch_tokens: int, seed: int, epoch: int
) -> list[list[int]]:
    """Indices of one pass over the examples, each once, in a seeded order.

    Args:
        lengths: Positions of each example.
        batch_tokens: Most positions of a batch, padding included; a longer example stands alone.
        seed: Of the training.
        epoch: Which pass; each has an order of its own.
    """
    stream = random.Random(derive_seed(seed, "epoch", epoch))
    order = list(range(len(lengths)))
    stream.shuffle(order)
    mean = sum(lengths) / max(len(lengths), 1)
    window = max(1, int(WINDOW_BATCHES * batch_tokens / max(mean, 1.0)))
    batches = [
        batch
        for first in range(0, len(order), window)
        for batch in split_batch(
            sorted(order[first : first + window], key=lambda i: lengths[i]), lengths, batch_tokens
        )
    ]
    stream.shuffle(batches)
    return batches


def split_batch(indices: Sequence[int], lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Cut into parts of at most `budget` padded positions each, order kept; a longer example stands alone."""
    part: list[int] = []
    widest = 0
    for i in indices:
        wider = max(widest, lengths[i])
        if part and (len(part) + 1) * wider > budget:
            yield part
            part, wider = [], lengths[i]
        part.append(i)
        widest = wider
    if part:
        yield part


def all_batches(lengths: Sequence[int], batch_tokens: int, seed: int) -> Iterator[list[int]]:
    """Batches of one pass after the other, without end."""
    epoch = 0
    while True:
        yield from epoch_batches(lengths, batch_tokens, seed, epoch)
        epoch += 1
