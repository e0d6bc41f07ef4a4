from itertools import islice

import pytest
import torch
from transformers import PreTrainedModel

from dynaweb.batch.source import Source
from dynaweb.batch.tokens import Row, TrainTrajectory
from dynaweb.errors import UserError
from dynaweb.gspo.config import DemonstrationsConfig, UpdateConfig
from dynaweb.gspo.demonstrations import Demonstrations
from dynaweb.gspo.update import update_policy
from dynaweb.lm.model import ModelConfig, build_model
from dynaweb.train.batch import Example
from dynaweb.train.config import FitConfig, OptimizerConfig
from dynaweb.train.logprob import flat_logprobs
from dynaweb.train.loss import accumulate_gradients
from dynaweb.train.optimizer import Optimizer

EXAMPLES = tuple(
    Example(prompt_ids=(n, n + 1, n + 2), completion_ids=(n + 3, 39)) for n in range(12)
)


def model() -> PreTrainedModel:
    return build_model(ModelConfig(hidden=32, layers=2, heads=2, ffn=48, context=64), 40, seed=0)


def shown(weight: float = 1.0, batch_tokens: int = 20) -> Demonstrations:
    config = DemonstrationsConfig(weight=weight, batch_tokens=batch_tokens)
    return Demonstrations(EXAMPLES, config, seed=3)


def gradient(policy: PreTrainedModel) -> torch.Tensor:
    return torch.cat([p.grad.flatten() for p in policy.parameters() if p.grad is not None])


def test_a_run_that_goes_on_reads_what_it_would_have_read() -> None:
    whole = list(islice(shown().batches(0), 9))
    assert list(islice(shown().batches(4), 5)) == whole[4:]
    assert sorted(e.prompt_ids for b in whole[:3] for e in b) == [e.prompt_ids for e in EXAMPLES]


def test_the_gradient_is_the_supervised_one_times_the_weight() -> None:
    supervised, beside = model(), model()
    loss = accumulate_gradients(supervised, EXAMPLES, FitConfig(steps=1))
    assert shown(0.25).accumulate(beside, EXAMPLES) == pytest.approx(loss)
    assert torch.allclose(gradient(beside), gradient(supervised) * 0.25, atol=1e-7)


def test_it_is_added_to_that_of_the_dreams() -> None:
    """An attempt without advantage gives exactly nothing, so what moved was moved by demonstrations."""
    attempt = TrainTrajectory(
        name="t",
        source=Source.DREAM,
        reward=1.0,
        advantage=0.0,
        copies=1,
        rows=(Row(prompt_ids=(1, 2), completion_ids=(3, 4)),),
    )
    policy = model()
    before = float(-flat_logprobs(policy, EXAMPLES).mean().detach())
    optimizer = Optimizer(policy, OptimizerConfig(name="adamw", learning_rate=1e-2))
    config = UpdateConfig(mini_batches=1, warmup_steps=0)
    losses = []
    for n in range(20):
        told = update_policy(
            policy, optimizer, [attempt], config, seed=n, steps_before=n, shown=shown()
        )
        losses.append(told["update/demonstrations_loss"])
    assert None not in losses
    assert float(-flat_logprobs(policy, EXAMPLES).mean().detach()) < 0.5 * before


@pytest.mark.parametrize("examples", [EXAMPLES, ()])
def test_without_weight_or_examples_nothing_is_read(examples: tuple[Example, ...]) -> None:
    weight = 0.0 if examples else 1.0
    none = Demonstrations(examples, DemonstrationsConfig(weight=weight), seed=0)
    assert list(none.batches(0)) == []
    assert (
        none.checksum() == Demonstrations((), DemonstrationsConfig(weight=1.0), seed=0).checksum()
    )


@pytest.mark.parametrize(
    ("bad", "said"), [({"weight": -1.0}, "weight -1.0"), ({"batch_tokens": 0}, "batch_tokens 0")]
)
def test_bad_settings_are_named(bad: dict[str, float], said: str) -> None:
    with pytest.raises(UserError, match=said):
        DemonstrationsConfig(**bad)
