import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.source import Source
from dynaweb.batch.tokens import Row, TrainTrajectory
from dynaweb.errors import TrainingError
from dynaweb.gspo.batch import attempt_logps, chunk_logprobs, like_lengths
from dynaweb.gspo.config import ClipConfig, Level, UpdateConfig
from dynaweb.gspo.gradient import accumulate
from dynaweb.gspo.tally import Tally
from dynaweb.gspo.update import cut, score_old, update_policy, warm
from dynaweb.lm.model import ModelConfig, build_model
from dynaweb.train.config import OptimizerConfig
from dynaweb.train.logprob import flat_logprobs
from dynaweb.train.optimizer import Optimizer

LEVELS = pytest.mark.parametrize("level", list(Level))


def model(seed: int = 0) -> PreTrainedModel:
    return build_model(
        ModelConfig(hidden=32, layers=2, heads=2, ffn=48, context=128), 40, seed=seed
    )


def attempts() -> list[TrainTrajectory]:
    """Ragged: one to four rows, prompts of 3 to 30 tokens, replies of 1 to 6."""
    stream = torch.Generator().manual_seed(7)

    def ids(low: int, high: int) -> tuple[int, ...]:
        n = int(torch.randint(low, high + 1, (), generator=stream))
        return tuple(torch.randint(0, 40, (n,), generator=stream).tolist())

    return [
        TrainTrajectory(
            name=f"t{n}",
            source=Source.EXPERT if n % 3 == 0 else Source.DREAM,
            reward=float(n % 2),
            advantage=(-1.0) ** n * (0.3 + n / 10),
            copies=1 + n % 2,
            rows=tuple(
                Row(prompt_ids=ids(3, 30), completion_ids=ids(1, 6)) for _ in range(1 + n % 4)
            ),
        )
        for n in range(9)
    ]


def config(**changes: object) -> UpdateConfig:
    clip = ClipConfig(low=0.05, high=0.05, reference_tokens=None)
    plain = UpdateConfig(clip=clip, token_budget=4096, kl=0.1, warmup_steps=0)
    return dataclasses.replace(plain, **changes)


def gradient(some: list[TrainTrajectory], settings: UpdateConfig) -> Tensor:
    """Of one optimiser step, off-policy: pi_old and the reference are other weights."""
    policy = model(0)
    scored = score_old(model(1), model(2), some, settings)
    accumulate(policy, scored, settings, Tally())
    grads = [p.grad for p in policy.parameters() if p.grad is not None]
    return torch.cat([g.flatten() for g in grads])


@LEVELS
def test_order_of_attempts_does_not_change_the_gradient(level: Level) -> None:
    some = attempts()
    settings = config(level=level)
    one, other = gradient(some, settings), gradient(some[::-1], settings)
    assert float(one.abs().max()) > 1e-4
    assert torch.allclose(one, other, atol=1e-6)


@LEVELS
@pytest.mark.parametrize("budget", [400, 120, 40, 1])
def test_micro_batches_do_not_change_the_gradient(level: Level, budget: int) -> None:
    """Down to one row a pass, which cuts attempts into parts."""
    whole = gradient(attempts(), config(level=level))
    parts = gradient(attempts(), config(level=level, token_budget=budget))
    assert torch.allclose(whole, parts, atol=1e-6)


def test_parts_report_the_same_ratios_as_the_whole() -> None:
    tallies = []
    for budget in (4096, 1):
        settings = config(token_budget=budget)
        tally = Tally()
        scored = score_old(model(1), None, attempts(), settings)
        accumulate(model(0), scored, settings, tally)
        tallies.append(tally)
    assert sorted(tallies[0].ratios) == pytest.approx(sorted(tallies[1].ratios), rel=1e-5)
    assert (
        tallies[0].metrics()["update/clip_fraction"] == tallies[1].metrics()["update/clip_fraction"]
    )
    assert tallies[0].loss == pytest.approx(tallies[1].loss, abs=1e-6)


def test_a_copy_weighs_as_much_as_the_attempt_itself() -> None:
    some = attempts()[:2]
    twice = [dataclasses.replace(some[0], copies=2), some[1]]
    listed = [dataclasses.replace(a, copies=1) for a in (some[0], some[0])] + [some[1]]
    assert torch.allclose(gradient(twice, config()), gradient(listed, config()), atol=1e-6)


def test_padding_does_not_change_log_probabilities() -> None:
    together = attempt_logps(model(), attempts(), budget=4096, temperature=1.0)
    alone = [attempt_logps(model(), [a], budget=1, temperature=1.0)[0] for a in attempts()]
    for x, y in zip(together, alone, strict=True):
        assert torch.allclose(x, y, atol=1e-5)


def test_first_mini_batch_is_on_policy_and_later_ones_are_not() -> None:
    policy = model()
    some = attempts()
    optimizer = Optimizer(policy, OptimizerConfig(name="adamw", learning_rate=1e-2))
    once = update_policy(
        policy, optimizer, some, config(mini_batches=1, kl=0.0), seed=1, steps_before=0
    )
    assert once["update/ratio_is_one"] == 1.0 and once["update/clip_fraction"] == 0.0
    more = update_policy(
        policy, optimizer, some, config(mini_batches=3, kl=0.0), seed=1, steps_before=0
    )
    assert more["update/ratio_is_one"] == 0.0
    assert more["update/optimizer_steps"] == 3.0
    fraction = more["update/clip_fraction"]
    assert fraction is not None and fraction > 0.0


def test_policy_moves_towards_good_attempts_and_away_from_bad() -> None:
    policy = model()
    some = attempts()
    before = [t.mean() for t in attempt_logps(policy, some, budget=4096, temperature=1.0)]
    optimizer = Optimizer(policy, OptimizerConfig(name="adamw", learning_rate=3e-3))
    for seed in range(5):
        update_policy(policy, optimizer, some, config(kl=0.0), seed=seed, steps_before=0)
    after = [t.mean() for t in attempt_logps(policy, some, budget=4096, temperature=1.0)]
    moved = [(a.advantage > 0) == bool(y > x) for a, x, y in zip(some, before, after, strict=True)]
    assert sum(moved) >= 8


def test_the_first_steps_are_small() -> None:
    """AdamW's first step is the rate in every weight, whatever the gradient."""
    moved = []
    for warmup in (0, 20):
        policy = model()
        before = [p.clone() for p in policy.parameters()]
        optimizer = Optimizer(
            policy, OptimizerConfig(name="adamw", learning_rate=1e-3, weight_decay=0.0)
        )
        settings = config(kl=0.0, mini_batches=1, warmup_steps=warmup)
        update_policy(policy, optimizer, attempts(), settings, seed=1, steps_before=0)
        moved.append(
            max(
                float((p - q).abs().max()) for p, q in zip(policy.parameters(), before, strict=True)
            )
        )
    assert moved == pytest.approx([1e-3, 1e-3 / 21], rel=0.01)


def test_the_rate_rises_in_a_line_and_stays() -> None:
    assert [warm(n, 3) for n in range(5)] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert warm(0, 0) == 1.0


def test_nothing_to_train_on_changes_nothing() -> None:
    policy = model()
    before = [p.clone() for p in policy.parameters()]
    optimizer = Optimizer(policy, OptimizerConfig(name="adamw"))
    metrics = update_policy(policy, optimizer, [], config(), seed=1, steps_before=0)
    assert metrics["update/loss"] is None and metrics["update/optimizer_steps"] == 0.0
    assert all(torch.equal(p, q) for p, q in zip(policy.parameters(), before, strict=True))


def test_another_model_behind_the_sampler_stops_the_run() -> None:
    policy = model()
    some = attempts()
    foreign = attempt_logps(model(3), some, budget=4096, temperature=1.0)
    lied = []
    for attempt, logp in zip(some, foreign, strict=True):
        cuts = torch.split(logp, [len(r.completion_ids) for r in attempt.rows])
        rows = [
            dataclasses.replace(r, sampled_logprobs=tuple(c.tolist()))
            for r, c in zip(attempt.rows, cuts, strict=True)
        ]
        lied.append(dataclasses.replace(attempt, rows=tuple(rows)))
    spare = model()
    older = update_policy(
        spare, Optimizer(spare, OptimizerConfig()), some, config(), seed=1, steps_before=0
    )
    assert older["update/sampler_gap"] is None, "attempts of before the run carry no numbers"
    for source in (Source.DREAM, Source.LIVE):
        fresh = [dataclasses.replace(a, source=source) for a in lied]
        with pytest.raises(TrainingError, match="same weights"):
            update_policy(
                policy,
                Optimizer(policy, OptimizerConfig()),
                fresh,
                config(),
                seed=1,
                steps_before=0,
            )


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_mini_batches_lose_nothing(n: int) -> None:
    order = list(range(7))
    parts = cut(order, n)
    assert [i for part in parts for i in part] == order
    assert max(map(len, parts)) - min(map(len, parts)) <= 1 and all(parts)


def test_completion_tokens_alone_are_trained() -> None:
    """Whatever the prompt predicts is nobody's business: prompts only condition."""
    some = [dataclasses.replace(attempts()[0], advantage=1.0)]
    row = some[0].rows[0]
    policy = model()
    logp = attempt_logps(policy, some, budget=4096, temperature=1.0)[0]
    ids = torch.tensor([row.prompt_ids + row.completion_ids])
    reference = torch.log_softmax(policy(input_ids=ids).logits[0].float(), -1)
    places = range(len(row.prompt_ids) - 1, ids.shape[1] - 1)
    expected = [float(reference[p, ids[0, p + 1]]) for p in places]
    assert logp.tolist() == pytest.approx(expected, abs=1e-5)
    assert len(logp) == len(row.completion_ids)


@given(st.lists(st.integers(2, 400), min_size=1, max_size=40), st.integers(0, 500))
def test_passes_of_like_length_hold_every_row_once_and_cost_no_more(
    lengths: list[int], pass_cost: int
) -> None:
    parts = like_lengths(lengths, pass_cost)
    assert sorted(i for part in parts for i in part) == list(range(len(lengths)))
    padded = sum(max(lengths[i] for i in part) * len(part) for part in parts)
    assert padded + pass_cost * len(parts) <= max(lengths) * len(lengths) + pass_cost


def test_passes_of_like_length_are_the_cheapest() -> None:
    assert like_lengths([50, 10, 11, 50], pass_cost=30) == [[1, 2], [0, 3]]
    assert like_lengths([50, 10, 11, 50], pass_cost=100) == [[1, 2, 0, 3]]


def test_padding_rows_to_like_lengths_changes_neither_values_nor_gradient() -> None:
    rows = [
        Row(prompt_ids=tuple(range(3, 3 + n)), completion_ids=(5, 6, 7)[: 1 + n % 3])
        for n in (20, 3, 30, 4, 21, 31)
    ]
    found = []
    for logprobs in (flat_logprobs, chunk_logprobs):
        policy = model()
        logp_T = logprobs(policy, rows * 20, temperature=0.7)
        (logp_T * torch.linspace(-1.0, 1.0, len(logp_T))).mean().backward()
        found.append((logp_T.detach(), [p.grad for p in policy.parameters()]))
    (one, one_gradient), (cut, cut_gradient) = found
    assert len(like_lengths([len(r.prompt_ids) + len(r.completion_ids) for r in rows * 20])) > 1
    assert torch.allclose(one, cut, atol=1e-6)
    assert all(
        torch.allclose(p, q, atol=1e-6) for p, q in zip(one_gradient, cut_gradient, strict=True)
    )
