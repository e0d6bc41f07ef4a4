"""GSPO over attempts that are made of several prompts: one ratio for each unit, clipped once.

"Group Sequence Policy Optimization", arXiv 2507.18071, eq. 5 to 7. The paper's sequence is one reply.
Ours is every token the policy wrote in one attempt (DynaWeb 3.3 as we read it; its text gives no
formula): the joint probability factorises over steps given the pages, so the world's terms cancel:

    s_n = exp( 1/L_n * sum_{t in n} (log pi(t) - log pi_old(t)) ),   L_n = policy tokens of attempt n
    loss = - sum_n w_n min(s_n A_n, clip(s_n, 1 - low, 1 + high) A_n) / sum_n w_n

`Level` says what a unit is: the attempt (default), a step (verl and SkyRL), or a token (GRPO). Each
attempt weighs the same at every level: units are averaged inside it first.

Pure: tensors in, tensors out. Shape suffixes: T = policy tokens, N = attempts, U = units.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from dynaweb.gspo.config import ClipConfig, Level

MAX_LOG_RATIO = 10.0
"""Bound on a unit's log ratio, so that a runaway policy gives a large number and not infinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMap:
    """Which step and which attempt each policy token belongs to; tokens stand in order."""

    step_T: Int[Tensor, " T"]
    """Index of the token's step, counted through the whole batch."""
    attempt_T: Int[Tensor, " T"]
    """Index of the token's attempt."""
    n_attempts: int
    """Attempts in the batch; each has at least one token."""

    def on(self, device: torch.device) -> "TokenMap":
        """The same where the tokens' values are."""
        return replace(self, step_T=self.step_T.to(device), attempt_T=self.attempt_T.to(device))


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """What shares one ratio, and how much it counts."""

    unit_T: Int[Tensor, " T"]
    """Unit of each token."""
    length_U: Float[Tensor, " U"]
    """Policy tokens of each unit."""
    attempt_U: Int[Tensor, " U"]
    """Attempt of each unit."""
    share_U: Float[Tensor, " U"]
    """Part of its attempt that the unit is; sums to 1 over an attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GspoLoss:
    """What one call says about a batch."""

    loss: Float[Tensor, ""]
    """Minimise this; dimensionless. Not yet divided by the batch's weight: see `gspo_loss`."""
    ratio_U: Float[Tensor, " U"]
    """Importance ratio of each unit; 1.0 when nothing was updated since pi_old."""
    clipped_U: Bool[Tensor, " U"]
    """True where the clip removed the gradient."""
    attempt_U: Int[Tensor, " U"]
    """Attempt of each unit."""


def units_of(tokens: TokenMap, level: Level) -> Units:
    """Cut a batch into units of one ratio each."""
    match level:
        case Level.TRAJECTORY:
            unit_T = tokens.attempt_T
            n_units = tokens.n_attempts
        case Level.STEP:
            _, unit_T = torch.unique_consecutive(tokens.step_T, return_inverse=True)
            n_units = int(unit_T[-1]) + 1
        case Level.TOKEN:
            unit_T = torch.arange(tokens.step_T.shape[0], device=tokens.step_T.device)
            n_units = tokens.step_T.shape[0]
    length_U = torch.zeros(n_units, device=unit_T.device).index_add_(
        0, unit_T, torch.ones_like(unit_T, dtype=torch.float32)
    )
    attempt_U = torch.zeros(n_units, dtype=torch.long, device=unit_T.device)
    attempt_U[unit_T] = tokens.attempt_T
    units_N = torch.bincount(attempt_U, minlength=tokens.n_attempts)
    if bool((units_N == 0).any()) or bool((length_U == 0).any()):
        raise ValueError("an attempt has no policy token, so its ratio is undefined")
    return Units(
        unit_T=unit_T,
        length_U=length_U,
        attempt_U=attempt_U,
        share_U=1.0 / units_N.to(torch.float32)[attempt_U],
    )


def unit_log_ratio(
    logp_T: Float[Tensor, " T"], old_logp_T: Float[Tensor, " T"], units: Units
) -> Float[Tensor, " U"]:
    """Mean log ratio of each unit: the log of GSPO's s (eq. 7)."""
    gap_T = logp_T - old_logp_T
    total_U = gap_T.new_zeros(len(units.length_U)).index_add(0, units.unit_T, gap_T)
    return (total_U / units.length_U).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)


def clip_bounds(
    length_U: Float[Tensor, " U"], clip: ClipConfig
) -> tuple[Float[Tensor, " U"], Float[Tensor, " U"]]:
    """Lowest and highest ratio of each unit.

    A mean of L log ratios spreads as 1/sqrt(L), and the paper's band is made for answers of about
    1,000 tokens; with `reference_tokens` the band widens by sqrt(reference / L) (ours).
    """
    if clip.reference_tokens is None:
        scale_U = torch.ones_like(length_U)
    else:
        scale_U = (clip.reference_tokens / length_U).sqrt().clamp(min=1.0)
    return (1.0 - clip.low * scale_U).clamp(min=0.0), 1.0 + clip.high * scale_U


def gspo_loss(
    logp_T: Float[Tensor, " T"],
    old_logp_T: Float[Tensor, " T"],
    tokens: TokenMap,
    advantage_N: Float[Tensor, " N"],
    weight_N: Float[Tensor, " N"],
    *,
    level: Level,
    clip: ClipConfig,
) -> GspoLoss:
    """Score whole attempts directly.

    Args:
        logp_T: log-probability of each policy token under the policy in training, natural log.
        old_logp_T: the same under the policy that was asked, by the same code path; no gradient.
        tokens: which token belongs where.
        advantage_N: worth of each attempt.
        weight_N: how often each attempt counts; the caller divides by the sum over its batch, so
            that cutting a batch into micro-batches changes nothing.
        level: what shares a ratio.
        clip: band of the ratio.

    Raises:
        ValueError: an attempt has no policy token.
    """
    units = units_of(tokens, level)
    ratio_U = unit_log_ratio(logp_T, old_logp_T, units).exp()
    return _surrogate(ratio_U, units, advantage_N, weight_N, clip)


def gspo_chunk_loss(
    logp_T: Float[Tensor, " T"],
    tokens: TokenMap,
    log_ratio_N: Float[Tensor, " N"],
    length_N: Float[Tensor, " N"],
    advantage_N: Float[Tensor, " N"],
    weight_N: Float[Tensor, " N"],
    *,
    clip: ClipConfig,
) -> Float[Tensor, ""]:
    """Second pass over a part of long attempts: the trajectory level's exact gradient, GSPO-token form.

    GSPO 4.3: s_nt = sg[s_n] * pi(t) / sg[pi(t)] has s_n's value and, when A is the same for every
    token, its gradient. Summed over the parts of an attempt it equals `gspo_loss` at trajectory level.

    Args:
        logp_T: log-probability of the part's tokens, with gradient.
        tokens: attempts are numbered as in `log_ratio_N`; they need not all be present.
        log_ratio_N: log s of each whole attempt, from the first pass; no gradient.
        length_N: policy tokens of each whole attempt.
        advantage_N: worth of each attempt.
        weight_N: see `gspo_loss`.
        clip: band of the ratio.
    """
    at_T = tokens.attempt_T
    # precision: the difference is exactly 0 only when subtracted before anything is added (verl 2775)
    ratio_T = (logp_T - logp_T.detach() + log_ratio_N.detach()[at_T]).exp()
    low_N, high_N = clip_bounds(length_N, clip)
    free_T = ratio_T * advantage_N[at_T]
    kept_T = ratio_T.clamp(low_N[at_T], high_N[at_T]) * advantage_N[at_T]
    share_T = weight_N[at_T] / length_N[at_T]
    return -(torch.minimum(free_T, kept_T) * share_T).sum()


def _surrogate(
    ratio_U: Float[Tensor, " U"],
    units: Units,
    advantage_N: Float[Tensor, " N"],
    weight_N: Float[Tensor, " N"],
    clip: ClipConfig,
) -> GspoLoss:
    low_U, high_U = clip_bounds(units.length_U, clip)
    advantage_U = advantage_N[units.attempt_U]
    free_U = ratio_U * advantage_U
    kept_U = ratio_U.clamp(low_U, high_U) * advantage_U
    share_U = weight_N[units.attempt_U] * units.share_U
    return GspoLoss(
        loss=-(torch.minimum(free_U, kept_U) * share_U).sum(),
        ratio_U=ratio_U.detach(),
        clipped_U=(kept_U < free_U).detach(),
        attempt_U=units.attempt_U,
    )


def kl_to_reference(
    logp_T: Float[Tensor, " T"],
    reference_logp_T: Float[Tensor, " T"],
    tokens: TokenMap,
    weight_N: Float[Tensor, " N"],
    length_N: Float[Tensor, " N"],
) -> Float[Tensor, ""]:
    """Weighted sum over attempts of the mean token KL(pi || reference), low-variance estimator.

    exp(d) - d - 1 with d = log reference - log pi (Schulman's k3): unbiased on the policy's own
    tokens and never negative. `length_N` counts whole attempts, so parts of one add up.
    """
    gap_T = (reference_logp_T - logp_T).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    kl_T = gap_T.exp() - gap_T - 1.0
    return (kl_T * (weight_N / length_N)[tokens.attempt_T]).sum()
