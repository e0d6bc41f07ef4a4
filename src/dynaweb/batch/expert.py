"""What becomes of an expert's tokens: the four ways in use, and which attempts are imitated.

`recompute` replaces dreams (DynaWeb 4.1), `luffy` is LUFFY (arXiv 2504.14945), `sft` is CHORD's mixture
(arXiv 2508.11408), `hard_only` is ReLIFT (arXiv 2506.07527).
"""

from enum import StrEnum

from dynaweb.batch.advantage import ScoredGroup
from dynaweb.batch.source import Source, source_of
from dynaweb.records.trajectory import Group, Trajectory


class ExpertMode(StrEnum):
    """How an expert's attempt teaches."""

    RECOMPUTE = "recompute"
    """A member like any other: pi_old is recomputed on its tokens, so its ratio begins at 1 and is clipped."""
    LUFFY = "luffy"
    """A member whose loss is its shaped probability: no ratio, no clip."""
    SFT = "sft"
    """Out of the comparison; its likelihood is a loss of its own beside that of the policy's attempts."""
    HARD_ONLY = "hard_only"
    """It takes nobody's place; imitated only where all of the policy's attempts failed, in a step of its own."""

    @property
    def takes_places(self) -> bool:
        """Experts are among a group's members."""
        return self is not ExpertMode.HARD_ONLY


def set_apart(group: Group, mode: ExpertMode) -> tuple[Group, tuple[Trajectory, ...]]:
    """The group that is compared, and the experts that are imitated instead.

    Only `sft` parts them; what is left may be too small to compare.
    """
    if mode is not ExpertMode.SFT:
        return group, ()
    shown = tuple(m for m in group.members if source_of(m) is Source.EXPERT)
    own = tuple(m for m in group.members if source_of(m) is not Source.EXPERT)
    return Group(start=group.start, members=own), shown


def is_hard(group: ScoredGroup) -> bool:
    """Every attempt of the policy whose end is known is a failure, and there is one (ReLIFT: accuracy 0)."""
    own = [c.reward for c in group.credits if c.source is not Source.EXPERT]
    return bool(own) and max(own) == 0.0
