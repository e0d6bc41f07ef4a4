"""What a batch of groups was made of, in numbers, split by source. Names: docs/metrics.md."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from dynaweb.batch.advantage import GroupStatus, ScoredGroup
from dynaweb.batch.source import Source

Metrics = dict[str, float | None]
"""Name -> value; None where nothing was measured, which is never 0."""


def mean_or_none(values: Sequence[float]) -> float | None:
    """The mean, or None of nothing."""
    return fmean(values) if values else None


def summarise(groups: Sequence[ScoredGroup]) -> Metrics:
    """Counts of groups by status; reward, advantage, length and number of members by source."""
    status = Counter(g.status for g in groups)
    metrics: Metrics = {f"groups_{s.value}": float(status[s]) for s in GroupStatus}
    metrics["groups"] = float(len(groups))
    metrics["members_unknown"] = float(sum(g.unknown for g in groups))
    for source in Source:
        members = [c for g in groups for c in g.credits if c.source is source]
        metrics[f"{source.value}/members"] = float(len(members))
        metrics[f"{source.value}/reward"] = mean_or_none([c.reward for c in members])
        metrics[f"{source.value}/advantage"] = mean_or_none([c.advantage for c in members])
        metrics[f"{source.value}/steps"] = mean_or_none(
            [float(len(c.trajectory.steps)) for c in members]
        )
        metrics[f"{source.value}/policy_tokens"] = mean_or_none(
            [
                float(sum(len(g.completion_ids) for s in c.trajectory.steps for g in s.generations))
                for c in members
            ]
        )
    return metrics
