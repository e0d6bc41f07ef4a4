"""Losses on tokens that the policy did not write: LUFFY's shaped probability, and plain likelihood.

Both are sums over tokens, so an attempt may be cut into parts anywhere without a second pass.
Pure: tensors in, tensors out. Shape suffixes: T = policy tokens, N = attempts.
"""

from jaxtyping import Float
from torch import Tensor

from dynaweb.gspo.loss import TokenMap


def shaped_loss(
    logp_T: Float[Tensor, " T"],
    tokens: TokenMap,
    advantage_N: Float[Tensor, " N"],
    weight_N: Float[Tensor, " N"],
    length_N: Float[Tensor, " N"],
    *,
    gamma: float,
) -> Float[Tensor, ""]:
    """LUFFY's policy shaping (arXiv 2504.14945): -A f(p), f(p) = p / (p + gamma), p the token's probability.

    The expert's own probability counts as 1, so the ratio is p itself; no clip. Its gradient in log p is
    -A gamma p / (p + gamma)^2: at most A / 4, at p = gamma. LUFFY sums tokens over a fixed length; here an attempt's
    tokens are averaged, so that it weighs as much as an attempt of the policy's (ours).

    Args:
        logp_T: log-probability of each token, with gradient.
        tokens: which token belongs where; attempts need not be whole.
        advantage_N: worth of each attempt.
        weight_N: how often each attempt counts; the caller divides by the sum over its batch.
        length_N: policy tokens of each whole attempt.
        gamma: see above.
    """
    p_T = logp_T.exp()
    share_T = (advantage_N * weight_N / length_N)[tokens.attempt_T]
    return -(p_T / (p_T + gamma) * share_T).sum()


def likelihood_loss(
    logp_T: Float[Tensor, " T"],
    tokens: TokenMap,
    weight_N: Float[Tensor, " N"],
    *,
    phi: bool,
) -> Float[Tensor, ""]:
    """Sum of the tokens' negative log-probabilities; the caller divides by the weighted number of tokens.

    Args:
        logp_T: log-probability of each token, with gradient.
        tokens: which token belongs where; attempts need not be whole.
        weight_N: how often each attempt counts.
        phi: weigh each token by p (1 - p), without gradient (CHORD, arXiv 2508.11408).
    """
    weight_T = weight_N[tokens.attempt_T]
    if phi:
        p_T = logp_T.detach().exp()
        weight_T = weight_T * p_T * (1.0 - p_T)
    return -(logp_T * weight_T).sum()
