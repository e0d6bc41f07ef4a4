import math

import pytest
import torch
from torch import Tensor

from dynaweb.gspo.config import ClipConfig, Level
from dynaweb.gspo.loss import (
    TokenMap,
    clip_bounds,
    gspo_chunk_loss,
    gspo_loss,
    kl_to_reference,
    unit_log_ratio,
    units_of,
)

# three attempts: two steps of 2 and 1 tokens; one step of 3; one step of 1
STEP = torch.tensor([0, 0, 1, 2, 2, 2, 3])
ATTEMPT = torch.tensor([0, 0, 0, 1, 1, 1, 2])
TOKENS = TokenMap(step_T=STEP, attempt_T=ATTEMPT, n_attempts=3)
NEW = [-1.0, -0.5, -2.0, -0.1, -0.2, -0.3, -1.5]
OLD = [-1.1, -0.7, -1.8, -0.3, -0.1, -0.2, -1.0]
ADVANTAGE = [1.0, -0.5, 0.75]
WIDE = ClipConfig(low=0.2, high=0.2, reference_tokens=None)
NARROW = ClipConfig(low=0.05, high=0.05, reference_tokens=None)


def score(level: Level, clip: ClipConfig, logp: Tensor | None = None, weight: Tensor | None = None):
    new = torch.tensor(NEW) if logp is None else logp
    return gspo_loss(
        new,
        torch.tensor(OLD),
        TOKENS,
        torch.tensor(ADVANTAGE),
        torch.ones(3) if weight is None else weight,
        level=level,
        clip=clip,
    )


def by_hand(units: list[list[list[int]]], clip: ClipConfig) -> float:
    """-sum over attempts of the mean over its units of min(s A, clip(s) A)."""
    total = 0.0
    for attempt, advantage in zip(units, ADVANTAGE, strict=True):
        terms = []
        for unit in attempt:
            s = math.exp(sum(NEW[t] - OLD[t] for t in unit) / len(unit))
            kept = min(max(s, 1 - clip.low), 1 + clip.high)
            terms.append(min(s * advantage, kept * advantage))
        total -= sum(terms) / len(terms)
    return total


UNITS = {
    Level.TRAJECTORY: [[[0, 1, 2]], [[3, 4, 5]], [[6]]],
    Level.STEP: [[[0, 1], [2]], [[3, 4, 5]], [[6]]],
    Level.TOKEN: [[[0], [1], [2]], [[3], [4], [5]], [[6]]],
}


@pytest.mark.parametrize("clip", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("level", list(Level))
def test_loss_is_the_formula_written_out(level: Level, clip: ClipConfig) -> None:
    assert float(score(level, clip).loss) == pytest.approx(by_hand(UNITS[level], clip), abs=1e-6)


def test_one_step_attempts_make_trajectory_and_step_level_equal() -> None:
    tokens = TokenMap(step_T=ATTEMPT, attempt_T=ATTEMPT, n_attempts=3)
    args = (torch.tensor(NEW), torch.tensor(OLD), tokens, torch.tensor(ADVANTAGE), torch.ones(3))
    whole = gspo_loss(*args, level=Level.TRAJECTORY, clip=NARROW)
    steps = gspo_loss(*args, level=Level.STEP, clip=NARROW)
    assert torch.equal(whole.loss, steps.loss)
    assert torch.equal(whole.ratio_U, steps.ratio_U)


def test_token_level_is_grpo_with_attempts_weighing_the_same() -> None:
    new, old = torch.tensor(NEW), torch.tensor(OLD)
    ratio = (new - old).exp()
    advantage = torch.tensor(ADVANTAGE)[ATTEMPT]
    surrogate = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    grpo = -sum(surrogate[n == ATTEMPT].mean() for n in range(3))
    assert float(score(Level.TOKEN, WIDE).loss) == pytest.approx(float(grpo), abs=1e-6)


def grad_of(level: Level, clip: ClipConfig) -> Tensor:
    logp = torch.tensor(NEW, requires_grad=True)
    score(level, clip, logp).loss.backward()
    assert logp.grad is not None
    return logp.grad


def test_gradient_is_the_papers_equation() -> None:
    grad = grad_of(Level.TRAJECTORY, WIDE)
    for n, unit in enumerate([[0, 1, 2], [3, 4, 5], [6]]):
        s = math.exp(sum(NEW[t] - OLD[t] for t in unit) / len(unit))
        free = s * ADVANTAGE[n]
        kept = min(max(s, 0.8), 1.2) * ADVANTAGE[n]
        expected = -s * ADVANTAGE[n] / len(unit) if free <= kept else 0.0
        assert grad[unit].tolist() == pytest.approx([expected] * len(unit), abs=1e-6)


@pytest.mark.parametrize("clip", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("level", list(Level))
def test_gradient_is_what_finite_differences_say(level: Level, clip: ClipConfig) -> None:
    def value(at: list[float]) -> float:
        exact = torch.tensor(at, dtype=torch.float64)
        return float(score(level, clip, exact).loss)

    step = 1e-5
    expected = []
    for t in range(len(NEW)):
        up, down = list(NEW), list(NEW)
        up[t] += step
        down[t] -= step
        expected.append((value(up) - value(down)) / (2 * step))
    assert grad_of(level, clip).tolist() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("level", list(Level))
def test_order_of_attempts_changes_neither_loss_nor_gradient(level: Level) -> None:
    """The attempts of 3, 3 and 1 tokens, last one first."""
    order = [6, 3, 4, 5, 0, 1, 2]
    tokens = TokenMap(
        step_T=torch.tensor([0, 1, 1, 1, 2, 2, 3]),
        attempt_T=torch.tensor([0, 1, 1, 1, 2, 2, 2]),
        n_attempts=3,
    )
    logp = torch.tensor([NEW[t] for t in order], requires_grad=True)
    out = gspo_loss(
        logp,
        torch.tensor([OLD[t] for t in order]),
        tokens,
        torch.tensor(ADVANTAGE[::-1]),
        torch.ones(3),
        level=level,
        clip=WIDE,
    )
    out.loss.backward()
    assert float(out.loss.detach()) == pytest.approx(float(score(level, WIDE).loss), abs=1e-6)
    assert logp.grad is not None
    straight = grad_of(level, WIDE)
    assert torch.allclose(logp.grad, straight[order], atol=1e-7)


def test_clip_takes_the_gradient_away_only_where_the_paper_says() -> None:
    """A > 0 above the band and A < 0 below it lose their gradient; the other two sides keep it."""
    tokens = TokenMap(step_T=torch.arange(4), attempt_T=torch.arange(4), n_attempts=4)
    logp = torch.tensor([0.5, -0.5, 0.5, -0.5], requires_grad=True)
    advantage = torch.tensor([1.0, 1.0, -1.0, -1.0])
    out = gspo_loss(
        logp, torch.zeros(4), tokens, advantage, torch.ones(4), level=Level.TRAJECTORY, clip=WIDE
    )
    out.loss.backward()
    assert out.clipped_U.tolist() == [True, False, False, True]
    assert logp.grad is not None
    assert [float(g) == 0.0 for g in logp.grad] == [True, False, False, True]


@pytest.mark.parametrize("clip", [WIDE, NARROW], ids=["wide", "narrow"])
def test_two_pass_gradient_is_the_direct_one(clip: ClipConfig) -> None:
    """GSPO-token form, summed over parts that cut attempts anywhere."""
    direct = grad_of(Level.TRAJECTORY, clip)
    logp = torch.tensor(NEW, requires_grad=True)
    log_ratio = unit_log_ratio(logp.detach(), torch.tensor(OLD), units_of(TOKENS, Level.TRAJECTORY))
    length = torch.tensor([3.0, 3.0, 1.0])
    total = torch.zeros(())
    for part in ([0, 1], [2, 3], [4, 5, 6]):
        tokens = TokenMap(step_T=STEP[part], attempt_T=ATTEMPT[part], n_attempts=3)
        total = total + gspo_chunk_loss(
            logp[part], tokens, log_ratio, length, torch.tensor(ADVANTAGE), torch.ones(3), clip=clip
        )
    total.backward()
    assert float(total.detach()) == pytest.approx(
        float(score(Level.TRAJECTORY, clip).loss), abs=1e-6
    )
    assert logp.grad is not None
    assert torch.allclose(logp.grad, direct, atol=1e-7)


def test_zero_advantage_gives_exactly_zero_gradient() -> None:
    logp = torch.tensor(NEW, requires_grad=True)
    out = gspo_loss(
        logp,
        torch.tensor(OLD),
        TOKENS,
        torch.zeros(3),
        torch.ones(3),
        level=Level.TRAJECTORY,
        clip=WIDE,
    )
    out.loss.backward()
    assert logp.grad is not None
    assert float(out.loss.detach()) == 0.0 and not logp.grad.any()


def test_unchanged_policy_has_ratio_one_and_a_gradient() -> None:
    logp = torch.tensor(OLD, requires_grad=True)
    out = score(Level.TRAJECTORY, NARROW, logp)
    out.loss.backward()
    assert out.ratio_U.tolist() == [1.0, 1.0, 1.0]
    assert not out.clipped_U.any()
    assert logp.grad is not None and logp.grad.abs().min() > 0.0


def test_weight_two_is_the_attempt_twice() -> None:
    weight = torch.tensor([2.0, 1.0, 1.0])
    one = by_hand(UNITS[Level.TRAJECTORY], WIDE)
    s = math.exp(sum(NEW[t] - OLD[t] for t in (0, 1, 2)) / 3)
    twice = one - min(s, 1.2) * ADVANTAGE[0]
    assert float(score(Level.TRAJECTORY, WIDE, weight=weight).loss) == pytest.approx(
        twice, abs=1e-6
    )


def test_short_units_get_a_wider_band() -> None:
    clip = ClipConfig(low=3e-4, high=4e-4, reference_tokens=1000)
    low, high = clip_bounds(torch.tensor([10.0, 1000.0, 4000.0]), clip)
    assert low.tolist() == pytest.approx([1 - 3e-3, 1 - 3e-4, 1 - 3e-4], abs=1e-6)
    assert high.tolist() == pytest.approx([1 + 4e-3, 1 + 4e-4, 1 + 4e-4], abs=1e-6)


def test_a_runaway_policy_stays_finite() -> None:
    tokens = TokenMap(step_T=torch.tensor([0]), attempt_T=torch.tensor([0]), n_attempts=1)
    out = gspo_loss(
        torch.tensor([-1e-3]),
        torch.tensor([-200.0]),
        tokens,
        torch.tensor([-1.0]),
        torch.ones(1),
        level=Level.TRAJECTORY,
        clip=WIDE,
    )
    assert torch.isfinite(out.loss)


def test_an_attempt_without_tokens_is_refused() -> None:
    tokens = TokenMap(step_T=STEP, attempt_T=ATTEMPT, n_attempts=4)
    with pytest.raises(ValueError, match="no policy token"):
        units_of(tokens, Level.TRAJECTORY)


def test_kl_by_hand() -> None:
    """exp(d) - d - 1 with d = log reference - log pi, mean over each attempt's tokens, weighed."""
    weight = torch.tensor([2.0, 1.0, 1.0])
    logp = torch.tensor(NEW, requires_grad=True)
    kl = kl_to_reference(logp, torch.tensor(OLD), TOKENS, weight, torch.tensor([3.0, 3.0, 1.0]))
    kl.backward()
    expected, slopes = 0.0, []
    for t, n in enumerate(ATTEMPT.tolist()):
        d, share = OLD[t] - NEW[t], (2.0, 1.0, 1.0)[n] / (3, 3, 1)[n]
        expected += share * (math.exp(d) - d - 1)
        slopes.append(share * (1 - math.exp(d)))
    assert float(kl.detach()) == pytest.approx(expected, abs=1e-6)
    assert logp.grad is not None and logp.grad.tolist() == pytest.approx(slopes, abs=1e-6)


def test_kl_is_zero_at_the_reference_and_right_on_average() -> None:
    same = torch.tensor(OLD)
    length = torch.tensor([3.0, 3.0, 1.0])
    assert float(kl_to_reference(same, same, TOKENS, torch.ones(3), length)) == 0.0
    torch.manual_seed(0)
    p, q = torch.tensor([0.7, 0.2, 0.1]), torch.tensor([0.5, 0.3, 0.2])
    ids = torch.multinomial(p, 40_000, replacement=True)
    tokens = TokenMap(step_T=torch.zeros_like(ids), attempt_T=torch.zeros_like(ids), n_attempts=1)
    estimate = kl_to_reference(
        p.log()[ids], q.log()[ids], tokens, torch.ones(1), torch.tensor([float(len(ids))])
    )
    assert float(estimate) == pytest.approx(float((p * (p / q).log()).sum()), abs=3e-3)
