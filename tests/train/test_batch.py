from hypothesis import given
from hypothesis import strategies as st

from dynaweb.train.batch import epoch_batches, split_batch

LENGTHS = st.lists(st.integers(1, 300), max_size=80)


@given(LENGTHS, st.integers(1, 1000), st.integers(0, 5), st.integers(0, 3))
def test_an_epoch_has_every_example_once_within_the_budget(
    lengths: list[int], budget: int, seed: int, epoch: int
) -> None:
    batches = epoch_batches(lengths, budget, seed, epoch)
    assert sorted(i for b in batches for i in b) == list(range(len(lengths)))
    for b in batches:
        assert len(b) == 1 or len(b) * max(lengths[i] for i in b) <= budget
    assert batches == epoch_batches(lengths, budget, seed, epoch)


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    lengths = [1 + i % 50 for i in range(400)]
    orders = [epoch_batches(lengths, 200, seed, epoch) for seed in (0, 1) for epoch in (0, 1)]
    assert all(a != b for i, a in enumerate(orders) for b in orders[:i])


def test_little_is_padding() -> None:
    lengths = [40 + (i * 7919) % 160 for i in range(2000)]
    padded = sum(len(b) * max(lengths[i] for i in b) for b in epoch_batches(lengths, 4096, 0, 0))
    assert padded < 1.05 * sum(lengths)


def test_parts_keep_the_order() -> None:
    assert list(split_batch([0, 1, 2, 3], [3, 3, 5, 9], 6)) == [[0, 1], [2], [3]]
