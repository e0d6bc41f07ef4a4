"""A whole GSPO update beside the least that anyone could do with the same tokens.

The least is one forward pass without gradient (pi_old), then one forward and backward pass, the output
layer at completion positions only, with the same care for padding and the same token budget, laid out
beforehand: no loss but cross-entropy, no attempt that has to stay whole, no mini-batches, no optimiser, no
checks. All of that an update does besides, and looks at the policy once more afterwards.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.tokens import TrainTrajectory
from dynaweb.bench.training.made import made_groups, with_sampled
from dynaweb.bench.training.wish import TrainWish, Versus, seconds, versus
from dynaweb.gspo.batch import like_lengths, row_length
from dynaweb.gspo.config import UpdateConfig
from dynaweb.gspo.update import update_policy
from dynaweb.lm.model import build_model
from dynaweb.train.batch import split_batch
from dynaweb.train.config import OptimizerConfig
from dynaweb.train.logprob import layout
from dynaweb.train.optimizer import Optimizer

STILL = OptimizerConfig(name="adamw", learning_rate=1e-9, weight_decay=0.0)
"""Steps too small to change what the next repetition trains on."""


def measure_update(wish: TrainWish, said: Callable[[int, float], None]) -> Versus:
    """Tokens that an update trains a second, by those of bare passes over the same attempts."""
    model = build_model(wish.model, wish.vocabulary, seed=0)
    config = UpdateConfig(optimizer=STILL, token_budget=wish.token_budget)
    made = made_groups(wish.groups, wish.vocabulary, seed=0)
    attempts = with_sampled(model, made, wish.token_budget)
    optimizer = Optimizer(model, config.optimizer)
    passes = _passes(attempts, wish.token_budget)
    return versus(
        "update",
        "bare passes",
        sum(a.tokens for a in attempts),
        lambda: seconds(
            lambda: update_policy(model, optimizer, attempts, config, seed=0, steps_before=0)
        ),
        lambda: seconds(lambda: _bare(model, passes)),
        repeats=wish.repeats,
        said=said,
    )


def _passes(
    attempts: Sequence[TrainTrajectory], budget: int
) -> list[tuple[Tensor, Tensor, Tensor]]:
    rows = [row for attempt in attempts for row in attempt.rows]
    lengths = [row_length(row) for row in rows]
    order = sorted(range(len(rows)), key=lengths.__getitem__)
    return [
        layout([rows[part[i]] for i in like])
        for part in split_batch(order, lengths, budget)
        for like in like_lengths([lengths[i] for i in part])
    ]


def _bare(model: PreTrainedModel, passes: Sequence[tuple[Tensor, Tensor, Tensor]]) -> None:
    for learning in (False, True):
        for ids, row, place in passes:
            with torch.set_grad_enabled(learning):
                states = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
                logits = model.get_output_embeddings()(states[row, place])
                loss = torch.nn.functional.cross_entropy(logits, ids[row, place + 1])
            if learning:
                loss.backward()
    model.zero_grad()
