"""Losses on experts' tokens, against numbers worked out by hand."""

import math

import pytest
import torch
from torch import Tensor

from dynaweb.batch.expert import ExpertMode
from dynaweb.batch.tokens import Objective
from dynaweb.errors import UserError
from dynaweb.gspo.imitate import likelihood_loss, shaped_loss
from dynaweb.gspo.loss import TokenMap
from dynaweb.gspo.sources import ExpertConfig, LiveConfig

ATTEMPT = torch.tensor([0, 0, 1])
TOKENS = TokenMap(step_T=torch.tensor([0, 1, 2]), attempt_T=ATTEMPT, n_attempts=2)
P = [0.5, 0.1, 0.9]


def logp() -> Tensor:
    return torch.tensor([math.log(p) for p in P], requires_grad=True)


def shaped(logp_T: Tensor, gamma: float = 0.1) -> Tensor:
    advantage, weight, length = (
        torch.tensor([2.0, 0.5]),
        torch.tensor([1.0, 3.0]),
        torch.tensor([2.0, 1.0]),
    )
    return shaped_loss(logp_T, TOKENS, advantage, weight, length, gamma=gamma)


def test_shaping_by_hand() -> None:
    """f = p / (p + 0.1): 5/6, 1/2, 9/10; the first attempt has A 2, weight 1, two tokens, the second A 0.5, weight 3."""
    expected = -(2.0 * 1.0 * (5 / 6 + 1 / 2) / 2 + 0.5 * 3.0 * 0.9)
    assert float(shaped(logp()).detach()) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("p", "weight"), [(1e-4, 0.000998), (1e-2, 0.0826), (0.1, 0.25), (0.5, 0.139), (0.9, 0.09)]
)
def test_gradient_of_the_shaping_is_luffys(p: float, weight: float) -> None:
    """gamma p / (p + gamma)^2: what LUFFY publishes, largest at p = gamma."""
    one = TokenMap(step_T=torch.tensor([0]), attempt_T=torch.tensor([0]), n_attempts=1)
    lp = torch.tensor([math.log(p)], requires_grad=True)
    shaped_loss(lp, one, torch.ones(1), torch.ones(1), torch.ones(1), gamma=0.1).backward()
    assert lp.grad is not None
    assert float(-lp.grad[0]) == pytest.approx(weight, rel=0.01)


def test_an_expert_that_is_worth_nothing_gives_exactly_no_gradient() -> None:
    lp = logp()
    shaped_loss(lp, TOKENS, torch.zeros(2), torch.ones(2), torch.ones(2), gamma=0.1).backward()
    assert lp.grad is not None and not lp.grad.any()


def test_likelihood_by_hand() -> None:
    weight = torch.tensor([2.0, 1.0])
    plain = likelihood_loss(logp(), TOKENS, weight, phi=False)
    expected = -(2 * math.log(0.5) + 2 * math.log(0.1) + math.log(0.9))
    assert float(plain.detach()) == pytest.approx(expected, abs=1e-6)
    lp = logp()
    likelihood_loss(lp, TOKENS, weight, phi=True).backward()
    assert lp.grad is not None
    expected_grad = [-2 * 0.25, -2 * 0.09, -0.09]  # weight times p (1 - p), which has no gradient
    assert lp.grad.tolist() == pytest.approx(expected_grad, abs=1e-6)


@pytest.mark.parametrize("cut", [1, 2])
def test_both_may_be_cut_anywhere(cut: int) -> None:
    weight = torch.tensor([2.0, 1.0])
    whole = [
        float(shaped(logp()).detach()),
        float(likelihood_loss(logp(), TOKENS, weight, phi=True)),
    ]
    halves = [0.0, 0.0]
    for part in (slice(0, cut), slice(cut, 3)):
        tokens = TokenMap(step_T=TOKENS.step_T[part], attempt_T=ATTEMPT[part], n_attempts=2)
        lp = logp().detach()[part]
        args = (torch.tensor([2.0, 0.5]), torch.tensor([1.0, 3.0]), torch.tensor([2.0, 1.0]))
        halves[0] += float(shaped_loss(lp, tokens, *args, gamma=0.1))
        halves[1] += float(likelihood_loss(lp, tokens, weight, phi=True))
    assert halves == pytest.approx(whole, abs=1e-6)


def test_finite_differences() -> None:
    def value(values: list[float]) -> float:
        return float(shaped(torch.tensor(values, dtype=torch.float64)))

    at = [math.log(p) for p in P]
    lp = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    shaped(lp).backward()
    assert lp.grad is not None
    step = 1e-6
    for t in range(3):
        up, down = list(at), list(at)
        up[t] += step
        down[t] -= step
        slope = (value(up) - value(down)) / (2 * step)
        assert float(lp.grad[t]) == pytest.approx(slope, abs=1e-6)


def test_mu_rises_in_a_line_and_falls_along_a_cosine() -> None:
    config = ExpertConfig(
        mode=ExpertMode.SFT, mu_peak=0.9, mu_valley=0.1, mu_warmup_steps=4, mu_decay_steps=8
    )
    assert [config.mu(n) for n in (0, 2, 4, 8, 12, 99)] == pytest.approx(
        [0.0, 0.45, 0.9, 0.5, 0.1, 0.1]
    )
    assert ExpertConfig(mode=ExpertMode.SFT).mu(0) == 0.1
    assert ExpertConfig(mode=ExpertMode.LUFFY).mu(0) == 0.0


def test_members_are_read_by_their_ratio_unless_luffy() -> None:
    read = {mode: ExpertConfig(mode=mode).objective for mode in ExpertMode}
    assert read.pop(ExpertMode.LUFFY) is Objective.SHAPED
    assert set(read.values()) == {Objective.RATIO}


def test_the_budget_of_real_steps() -> None:
    assert not LiveConfig().spent(10**9)
    assert [LiveConfig(budget=10).spent(n) for n in (9, 10, 11)] == [False, True, True]
    assert LiveConfig(tasks=("a",)).allows("a") and not LiveConfig(tasks=("a",)).allows("b")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ExpertConfig(luffy_gamma=0.0), "luffy_gamma 0"),
        (lambda: ExpertConfig(luffy_gamma=math.nan), "luffy_gamma nan"),
        (lambda: ExpertConfig(mu_peak=1.5), "mu_peak 1.5"),
        (lambda: ExpertConfig(mu_decay_steps=-1), "mu_decay_steps -1"),
        (lambda: LiveConfig(share=2.0), "share 2.0"),
        (lambda: LiveConfig(budget=-1), "budget -1"),
        (lambda: LiveConfig(max_steps=0), "max_steps 0"),
    ],
)
def test_bad_settings_are_named(make, said: str) -> None:
    with pytest.raises(UserError, match=said):
        make()
