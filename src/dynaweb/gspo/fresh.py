"""Which weights a dream was sampled from, counted in updates: the check that no stale sampler slips through.

Every generation carries its policy's version (contracts: Generation). An engine that dreams while the policy
trains lags by an update or more; its dreams are off-policy from the start, and the only probabilities of the
weights that made them are the sampler's own. So their ratio is taken against those. What lags by more than
the configuration allows, or comes from another policy altogether, is refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import torch

from dynaweb.batch.source import Source, source_of
from dynaweb.batch.summary import Metrics
from dynaweb.errors import TrainingError
from dynaweb.gspo.batch import Scored
from dynaweb.records.trajectory import Trajectory

NO_LAG: Final[Mapping[str, int]] = MappingProxyType({})
"""Everything was sampled from the weights in training."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion:
    """Weights of one run: where it began, and updates made since."""

    name: str
    """Version of the initial policy."""
    updates: int

    @property
    def text(self) -> str:
        """As generations carry it."""
        return f"{self.name}+gspo{self.updates}"

    def lag(self, other: str) -> int | None:
        """Updates between another version of this run and this one; None when it is none, or a later one."""
        if other == self.name:
            return self.updates
        found = re.fullmatch(r"\+gspo(\d+)", other.removeprefix(self.name))
        if not other.startswith(self.name) or found is None:
            return None
        lag = self.updates - int(found[1])
        return lag if lag >= 0 else None


def lag_of(dream: Trajectory, now: PolicyVersion, max_staleness: int) -> int:
    """Updates that the attempt's sampler lagged; the most of its replies.

    0 for experts, and for live attempts that were made before this run: those are of earlier weights by design.

    Raises:
        TrainingError: more than `max_staleness`, or sampled by no version of this policy.
    """
    source, worst = source_of(dream), 0
    for version in sorted({g.policy_version for s in dream.steps for g in s.generations}):
        made_here = version.startswith(f"{now.name}+gspo")
        if source is Source.EXPERT or (source is Source.LIVE and not made_here):
            continue
        lag = now.lag(version)
        if lag is None:
            raise TrainingError(
                f"dream {dream.trajectory_id!r} was sampled by {version!r}, the policy in training is {now.text!r}: the sampler holds other weights, update it before it dreams"
            )
        worst = max(worst, lag)
    if worst > max_staleness:
        raise TrainingError(
            f"dream {dream.trajectory_id!r} was sampled {worst} updates before {now.text!r}, update.max_staleness is {max_staleness}: update the sampler before it dreams, or allow the lag"
        )
    return worst


def sampler_gap(scored: Sequence[Scored]) -> float | None:
    """Mean |difference| of a token's log-probability between sampler and trainer; None without fresh attempts.

    Experts were sampled by nobody, and attempts of before the run carry no such numbers (`readable`).
    """
    gaps = []
    for s in scored:
        sampled = [x for row in s.attempt.rows for x in row.sampled_logprobs]
        if len(sampled) == len(s.old_logp_T):
            gaps.append((s.old_logp_T.cpu() - torch.tensor(sampled)).abs())
    return float(torch.cat(gaps).mean()) if gaps else None


def require_same_weights(
    scored: Sequence[Scored], lags: Mapping[str, int], limit: float
) -> float | None:
    """The sampler's gap over dreams that call themselves fresh, in nats a token; None without any.

    Raises:
        TrainingError: it is past the limit, or no number: the version that the dreams carry is not true.
    """
    gap = sampler_gap([s for s in scored if not lags.get(s.attempt.name, 0)])
    if gap is not None and not gap <= limit:  # also when it is no number
        raise TrainingError(
            f"sampler and trainer differ by {gap:.3g} nats a token, the limit is {limit}: they must hold the same weights and tokens"
        )
    return gap


def against_sampler(scored: Sequence[Scored], lags: Mapping[str, int]) -> list[Scored]:
    """The same attempts; those that lag have the sampler's own log-probabilities as pi_old.

    Args:
        scored: by the trainer.
        lags: name of an attempt -> updates its sampler lagged; 0 when it is not in it.

    Raises:
        TrainingError: a sampler that lags gave no log-probability of a token.
    """
    return [_corrected(s) if lags.get(s.attempt.name, 0) else s for s in scored]


def _corrected(one: Scored) -> Scored:
    sampled = [x for row in one.attempt.rows for x in row.sampled_logprobs]
    if len(sampled) != one.attempt.policy_tokens:
        raise TrainingError(
            f"dream {one.attempt.name!r} is of earlier weights and has {len(sampled)} log-probabilities for {one.attempt.policy_tokens} tokens: a sampler that lags must give them all"
        )
    old = one.old_logp_T
    return replace(one, old_logp_T=torch.tensor(sampled, dtype=old.dtype, device=old.device))


def lag_metrics(scored: Sequence[Scored], lags: Mapping[str, int]) -> Metrics:
    """How many attempts were of earlier weights, and by how many updates at most."""
    stale = [n for s in scored if (n := lags.get(s.attempt.name, 0))]
    return {
        "update/stale_attempts": float(len(stale)),
        "update/lag_max": float(max(stale, default=0)),
    }
