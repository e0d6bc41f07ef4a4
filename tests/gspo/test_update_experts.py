"""Expert modes through a real model: each gradient against its parts, and what is cut or empty."""

import dataclasses

import pytest
import torch
from tests.gspo.test_update import attempts, config, gradient, model
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.expert import ExpertMode
from dynaweb.batch.source import Source
from dynaweb.batch.tokens import Objective, TrainTrajectory
from dynaweb.gspo.batch import attempt_logps
from dynaweb.gspo.config import Level, UpdateConfig
from dynaweb.gspo.gradient import accumulate, imitate
from dynaweb.gspo.sources import ExpertConfig
from dynaweb.gspo.tally import Tally
from dynaweb.gspo.update import score_old, update_policy
from dynaweb.train.config import OptimizerConfig
from dynaweb.train.logprob import flat_logprobs
from dynaweb.train.optimizer import Optimizer

LUFFY = ExpertConfig(mode=ExpertMode.LUFFY)
SFT = ExpertConfig(mode=ExpertMode.SFT, mu_peak=0.25, mu_valley=0.25, phi=False)
HARD = ExpertConfig(mode=ExpertMode.HARD_ONLY)


def read_by(objective: Objective) -> list[TrainTrajectory]:
    """The ragged attempts; experts among them are read by another loss."""
    return [
        dataclasses.replace(a, objective=objective, advantage=abs(a.advantage))
        if a.source is Source.EXPERT
        else a
        for a in attempts()
    ]


def apart(objective: Objective) -> tuple[list[TrainTrajectory], list[TrainTrajectory]]:
    both = read_by(objective)
    return [a for a in both if a.objective is Objective.RATIO], [
        a for a in both if a.objective is not Objective.RATIO
    ]


def grads(policy: PreTrainedModel) -> Tensor:
    return torch.cat([p.grad.flatten() for p in policy.parameters() if p.grad is not None])


def imitated_gradient(some: list[TrainTrajectory], settings: UpdateConfig) -> Tensor:
    policy = model(0)
    imitate(policy, some, settings, Tally(), 0)
    return grads(policy)


def test_luffys_gradient_is_that_of_its_two_kinds_of_members() -> None:
    """Members of a group share one denominator, whichever loss reads them."""
    settings = config(experts=LUFFY, kl=0.0)
    own, experts = apart(Objective.SHAPED)
    copies = [sum(a.copies for a in some) for some in (own, experts)]
    shaped = _shaped_by_hand(experts)
    together = gradient(read_by(Objective.SHAPED), settings)
    expected = (gradient(own, settings) * copies[0] + shaped) / sum(copies)
    assert float(shaped.abs().max()) > 1e-4
    assert torch.allclose(together, expected, atol=1e-6)


def _shaped_by_hand(experts: list[TrainTrajectory]) -> Tensor:
    policy = model(0)
    total = torch.zeros(())
    for a in experts:
        p = flat_logprobs(policy, a.rows).exp()
        total = total - a.copies * a.advantage * (p / (p + 0.1)).mean()
    total.backward()
    return grads(policy)


@pytest.mark.parametrize("budget", [120, 1])
def test_cutting_changes_no_experts_gradient(budget: int) -> None:
    whole = gradient(read_by(Objective.SHAPED), config(experts=LUFFY))
    parts = gradient(read_by(Objective.SHAPED), config(experts=LUFFY, token_budget=budget))
    assert torch.allclose(whole, parts, atol=1e-6)
    _, experts = apart(Objective.LIKELIHOOD)
    whole = imitated_gradient(experts, config(experts=SFT))
    parts = imitated_gradient(experts, config(experts=SFT, token_budget=budget))
    assert torch.allclose(whole, parts, atol=1e-6)


def test_imitation_is_the_mean_over_tokens_of_all_copies() -> None:
    _, experts = apart(Objective.LIKELIHOOD)
    policy = model(0)
    tokens = torch.cat([flat_logprobs(policy, a.rows) for a in experts for _ in range(a.copies)])
    (-tokens.mean() * 0.25).backward()
    assert torch.allclose(imitated_gradient(experts, config(experts=SFT)), grads(policy), atol=1e-6)


def test_imitation_does_not_depend_on_the_order_of_experts() -> None:
    _, experts = apart(Objective.LIKELIHOOD)
    settings = config(experts=SFT)
    one, other = imitated_gradient(experts, settings), imitated_gradient(experts[::-1], settings)
    assert torch.allclose(one, other, atol=1e-6)


def test_sft_weighs_both_losses_with_denominators_of_their_own() -> None:
    """One optimiser step on (1 - mu) GSPO + mu likelihood: AdamW's first moment is a tenth of its gradient."""
    settings = config(experts=SFT, kl=0.0, mini_batches=1)
    own, experts = apart(Objective.LIKELIHOOD)
    policy, compared, shown = model(0), model(0), model(0)
    adam = Optimizer(policy, OptimizerConfig(name="adamw", beta1=0.9, clip_norm=1e9))
    told = update_policy(policy, adam, [*own, *experts], settings, seed=1, steps_before=0)
    accumulate(compared, score_old(compared, None, own, settings), settings, Tally())
    imitate(shown, experts, settings, Tally(), 0)
    state = adam.state()
    pairs = zip(compared.named_parameters(), shown.parameters(), strict=True)
    for (name, one), other in pairs:
        assert one.grad is not None and other.grad is not None
        (moment,) = (v for k, v in state.items() if f"/{name}/" in k and k.endswith("exp_avg"))
        expected = 0.1 * (0.75 * one.grad + other.grad)  # `imitate` has weighed its own
        assert torch.allclose(moment, expected, atol=1e-7)
    assert told["update/imitation_weight"] == 0.25 and told["update/optimizer_steps"] == 1.0


def test_hard_groups_are_imitated_in_a_step_of_their_own() -> None:
    settings = config(experts=HARD, kl=0.0, mini_batches=2)
    own, experts = apart(Objective.LIKELIHOOD)
    both, plain = model(0), model(0)
    adam = OptimizerConfig(name="adamw", learning_rate=1e-2)
    told = update_policy(
        both, Optimizer(both, adam), [*own, *experts], settings, seed=1, steps_before=0
    )
    alone = update_policy(plain, Optimizer(plain, adam), own, settings, seed=1, steps_before=0)
    assert (told["update/optimizer_steps"], alone["update/optimizer_steps"]) == (3.0, 2.0)
    assert told["update/ratio_mean"] == alone["update/ratio_mean"], "the comparison is untouched"
    assert told["update/imitation_weight"] == 1.0 and alone["update/imitation_loss"] is None
    before = torch.cat(attempt_logps(plain, experts, budget=4096, temperature=1.0)).mean()
    after = torch.cat(attempt_logps(both, experts, budget=4096, temperature=1.0)).mean()
    assert float(after) > float(before)


@pytest.mark.parametrize("experts", [SFT, HARD])
def test_experts_alone_are_enough_for_an_update(experts: ExpertConfig) -> None:
    """No group taught by comparison; what is imitated is learnt all the same."""
    _, shown = apart(Objective.LIKELIHOOD)
    policy = model(0)
    adam = Optimizer(policy, OptimizerConfig(name="adamw"))
    told = update_policy(policy, adam, shown, config(experts=experts), seed=1, steps_before=0)
    assert (told["update/optimizer_steps"] or 0.0) >= 1.0
    assert told["update/ratio_is_one"] is None and told["update/imitation_loss"] is not None


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("budget", [4096, 1])
def test_groups_without_variance_have_a_gradient_of_exactly_zero(level: Level, budget: int) -> None:
    flat = [dataclasses.replace(a, advantage=0.0) for a in attempts()]
    got = gradient(flat, config(level=level, token_budget=budget, kl=0.0))
    assert got.numel() and not got.any(), "to the bit"
    shaped = [dataclasses.replace(a, objective=Objective.SHAPED) for a in flat]
    assert not gradient(shaped, config(experts=LUFFY, token_budget=budget, kl=0.0)).any()


def test_every_number_of_the_update_is_split_by_source() -> None:
    policy = model(0)
    adam = Optimizer(policy, OptimizerConfig(name="adamw", learning_rate=1e-2))
    told = update_policy(policy, adam, attempts(), config(), seed=1, steps_before=0)
    names = ("ratio_mean", "abs_log_ratio_mean", "clip_fraction", "surprise")
    for name in names:
        assert told[f"expert/{name}"] is not None and told[f"dream/{name}"] is not None
        assert told[f"live/{name}"] is None, "nothing was measured, which is never 0"
    some = [a for a in attempts() if a.source is Source.DREAM]
    logps = attempt_logps(model(0), some, budget=4096, temperature=1.0)
    tokens = torch.cat([x for a, x in zip(some, logps, strict=True) for _ in range(a.copies)])
    assert told["dream/surprise"] == pytest.approx(float(-tokens.mean()), abs=1e-5)
