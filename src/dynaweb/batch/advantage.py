"""Credit: each attempt against the others that began at the same place.

Worked out on `Group` objects, before anything is flattened into rows, so that a long attempt weighs
as much as a short one. The trainer sees the numbers and never where they came from.

Advantage A = r - mean(r) over the baseline's members (Dr. GRPO; binary rewards), optionally divided
by their unbiased standard deviation (GSPO, arXiv 2507.18071 eq. 5). Members whose outcome is unknown
leave the group first: a judge's or a world model's fault is nobody's zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, stdev

from dynaweb.batch.source import Source, source_of
from dynaweb.errors import UserError
from dynaweb.records.trajectory import Group, Start, Trajectory


class Baseline(StrEnum):
    """Whose rewards the mean and the deviation are taken over."""

    MIXED = "mixed"
    """Everyone, experts included (DynaWeb's wording; LUFFY's run script)."""
    ON_POLICY = "on_policy"
    """The policy's own attempts; a group whose dreams all fail becomes pure imitation."""


class GroupStatus(StrEnum):
    """Whether a group teaches anything, and if not why."""

    TRAINED = "trained"
    NO_VARIANCE = "no_variance"
    """All advantages are exactly zero: no gradient, left out of the batch's denominator."""
    TOO_FEW = "too_few"
    """Fewer known members than a comparison needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvantageConfig:
    """How credit is assigned inside a group."""

    baseline: Baseline = Baseline.MIXED
    """Whose mean is subtracted."""
    divide_by_std: bool = False
    """Divide by the baseline members' unbiased standard deviation."""
    std_floor: float = 1e-4
    """Added to the deviation before dividing, in units of reward (TRL's value)."""
    negative_cap: float | None = None
    """Largest sum of |A| over the policy's failures, as a multiple of the sum of positive A.

    None leaves it alone. With half experts and all dreams failing, a mixed baseline pushes down as
    much as it pulls up; 0.5 halves the push.
    """

    def __post_init__(self) -> None:
        if self.std_floor <= 0.0:
            raise UserError(f"advantage std_floor {self.std_floor!r} must be above 0")
        if self.negative_cap is not None and self.negative_cap < 0.0:
            raise UserError(f"advantage negative_cap {self.negative_cap!r} must be 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """One attempt and what it is worth."""

    trajectory: Trajectory
    source: Source
    reward: float
    """1.0 or 0.0; unknown attempts have left the group."""
    advantage: float
    """Dimensionless; positive raises the probability of what was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredGroup:
    """A group after credit: `len(credits) + unknown == len(group.members)`."""

    start: Start
    status: GroupStatus
    credits: tuple[Credit, ...]
    unknown: int
    """Members that left because nobody could say how they ended."""
    shown: tuple[Trajectory, ...] = ()
    """Experts that are imitated instead of compared (`batch.expert`); no members of the comparison."""


def score_group(group: Group, config: AdvantageConfig) -> ScoredGroup:
    """Give every known member its advantage.

    Raises:
        ValueError: a group of fewer than two cannot be compared; ask for more members.
    """
    if len(group.members) < 2:
        raise ValueError(
            f"group of {len(group.members)} at {group.start.task!r}: an advantage compares at least two attempts"
        )
    known = [m for m in group.members if m.reward is not None]
    rewards = [float(m.reward) for m in known if m.reward is not None]
    sources = [source_of(m) for m in known]
    base = _baseline(rewards, sources, config)
    if len(known) < 2 or not base or (config.divide_by_std and len(base) < 2):
        status, advantages = GroupStatus.TOO_FEW, [0.0] * len(known)
    else:
        advantages = _advantages(rewards, base, config)
        flat = all(a == 0.0 for a in advantages)
        status = GroupStatus.NO_VARIANCE if flat else GroupStatus.TRAINED
        advantages = _cap_negative(advantages, sources, config.negative_cap)
    return ScoredGroup(
        start=group.start,
        status=status,
        credits=tuple(
            Credit(trajectory=m, source=s, reward=r, advantage=a)
            for m, s, r, a in zip(known, sources, rewards, advantages, strict=True)
        ),
        unknown=len(group.members) - len(known),
    )


def uncompared(group: Group) -> ScoredGroup:
    """A group that is too small to compare, also an empty one: rewards are kept, nothing is taught."""
    known = [m for m in group.members if m.reward is not None]
    return ScoredGroup(
        start=group.start,
        status=GroupStatus.TOO_FEW,
        credits=tuple(
            Credit(trajectory=m, source=source_of(m), reward=m.reward, advantage=0.0)
            for m in known
            if m.reward is not None
        ),
        unknown=len(group.members) - len(known),
    )


def _baseline(
    rewards: Sequence[float], sources: Sequence[Source], config: AdvantageConfig
) -> list[float]:
    if config.baseline is Baseline.MIXED:
        return list(rewards)
    return [r for r, s in zip(rewards, sources, strict=True) if s is not Source.EXPERT]


def _advantages(
    rewards: Sequence[float], base: Sequence[float], config: AdvantageConfig
) -> list[float]:
    """Exactly zero where everyone did equally well: no rounding may leave a direction behind."""
    if min(rewards) == max(rewards):
        return [0.0] * len(rewards)
    if min(base) == max(base):  # experts differ from a policy that does not: a deviation of 0
        return [r - base[0] for r in rewards]
    mean = fmean(base)
    scale = stdev(base) + config.std_floor if config.divide_by_std else 1.0
    return [(r - mean) / scale for r in rewards]


def _cap_negative(
    advantages: Sequence[float], sources: Sequence[Source], cap: float | None
) -> list[float]:
    """Scale the policy's own negative advantages; an expert's is left as it is."""
    own = [a < 0.0 and s is not Source.EXPERT for a, s in zip(advantages, sources, strict=True)]
    negative = -sum(a for a, mine in zip(advantages, own, strict=True) if mine)
    positive = sum(a for a in advantages if a > 0.0)
    if cap is None or negative <= cap * positive:
        return list(advantages)
    scale = cap * positive / negative
    return [a * scale if mine else a for a, mine in zip(advantages, own, strict=True)]
