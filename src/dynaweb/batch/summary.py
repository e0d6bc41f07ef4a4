"""What a batch of groups was made of, in numbers, split by source. Names: docs/metrics.md."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from dynaweb.batch.advantage import GroupStatus, ScoredGroup
from dynaweb.batch.expert import is_hard
from dynaweb.batch.source import Source, source_of

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
    metrics["groups_empty"] = float(sum(not g.credits for g in groups))
    metrics["groups_hard"] = float(sum(is_hard(g) for g in groups))
    metrics["members_unknown"] = float(sum(g.unknown for g in groups))
    metrics["expert/imitated"] = float(sum(len(g.shown) for g in groups))
    for source in Source:
        credits = [c for g in groups for c in g.credits if c.source is source]
        shown = [t for g in groups for t in g.shown if source_of(t) is source]
        members = [c.trajectory for c in credits] + shown
        rewards = [t.reward for t in members if t.reward is not None]
        metrics[f"{source.value}/members"] = float(len(members))
        metrics[f"{source.value}/reward"] = mean_or_none(rewards)
        metrics[f"{source.value}/advantage"] = mean_or_none([c.advantage for c in credits])
        metrics[f"{source.value}/steps"] = mean_or_none([float(len(t.steps)) for t in members])
        metrics[f"{source.value}/policy_tokens"] = mean_or_none(
            [
                float(sum(len(g.completion_ids) for s in t.steps for g in s.generations))
                for t in members
            ]
        )
    return metrics
