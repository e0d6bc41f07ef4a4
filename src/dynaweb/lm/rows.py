"""Which questions to a model share a batch."""

from collections.abc import Iterator, Sequence


def batches_by_length(
    lengths: Sequence[int], rooms: Sequence[int], budget: int
) -> Iterator[list[int]]:
    """Indices of like length together, at most `budget` positions a batch, at least one row."""
    batch: list[int] = []
    widest = 0
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        room = max(rooms[i], widest)
        if batch and (len(batch) + 1) * (lengths[i] + room) > budget:
            yield batch
            batch, room = [], rooms[i]
        batch.append(i)
        widest = room
    if batch:
        yield batch
