"""Where a member of a group comes from; every number about a batch is split by it."""

from enum import StrEnum

from dynaweb.records.trajectory import Behaviour, Trajectory, World


class Source(StrEnum):
    """Expert demonstration, the policy's own dream, or the policy's own live attempt."""

    EXPERT = "expert"
    DREAM = "dream"
    LIVE = "live"


_DEMONSTRATORS = (Behaviour.EXPERT, Behaviour.HUMAN)


def source_of(trajectory: Trajectory) -> Source:
    """An expert stays an expert in whichever world it acted."""
    if trajectory.behaviour in _DEMONSTRATORS:
        return Source.EXPERT
    return Source.DREAM if trajectory.world is World.DREAM else Source.LIVE
