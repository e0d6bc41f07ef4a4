"""One iteration's groups: starts, dreams, experts, credit; groups without variance are dreamed again.

Everything is named by the number of its start in the endless sequence of starts, so a resumed run
dreams what an undisturbed one would have.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dynaweb.batch.advantage import GroupStatus, ScoredGroup, score_group
from dynaweb.batch.mix import Render, mix_group, split_group
from dynaweb.batch.source import Source
from dynaweb.batch.summary import Metrics, summarise
from dynaweb.dream.run import DreamRequest
from dynaweb.dream.starts import NO_WEIGHTS, StartPoint, pick_starts
from dynaweb.gspo.config import GspoConfig
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Outcome, Reason, Start, Trajectory

KEPT = 0.7
"""Part of a task's running share that a new group leaves: about three groups are remembered."""
LEAST_SHARE = 0.1
"""A task that no longer teaches is still tried this often, relative to one that does."""

Dream = Callable[[Sequence[DreamRequest]], list[Trajectory]]
"""Dreams for requests, in order, all in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """What one iteration dreamed."""

    groups: tuple[ScoredGroup, ...]
    """Every group, also those that teach nothing."""
    dreams: tuple[Trajectory, ...]
    """Every dream, also those of unknown outcome."""
    starts_used: int
    """How far the sequence of starts has moved."""

    @property
    def trained(self) -> tuple[ScoredGroup, ...]:
        """Groups that go into the update."""
        return tuple(g for g in self.groups if g.status is GroupStatus.TRAINED)

    def metrics(self) -> Metrics:
        """Groups and members by source, and how dreams ended."""
        ends = Counter(t.reason for t in self.dreams)
        wins = sum(t.outcome is Outcome.SUCCESS for t in self.dreams)
        known = sum(t.outcome is not Outcome.UNKNOWN for t in self.dreams)
        m = summarise(self.groups)
        m["starts"] = float(self.starts_used)
        m["dream/success_rate"] = wins / known if known else None
        for reason in Reason:
            m[f"dream/ended_{reason.value}"] = float(ends[reason])
        return m


def harvest(
    points: Sequence[StartPoint],
    config: GspoConfig,
    *,
    first_start: int,
    dream: Dream,
    render: Render,
    weights: Mapping[str, float] = NO_WEIGHTS,
) -> Harvest:
    """Dream until enough groups teach something, or the budget of rounds is used up.

    Args:
        points: where dreams may begin.
        config: how many, of what.
        first_start: number of the next start.
        dream: see `Dream`.
        render: experts in the policy's own words.
        weights: of tasks, see `pick_starts`.
    """
    groups: list[ScoredGroup] = []
    dreams: list[Trajectory] = []
    used = 0
    for _ in range(1 + config.resample_rounds):
        missing = config.groups - sum(g.status is GroupStatus.TRAINED for g in groups)
        if missing == 0:
            break
        first = first_start + used
        picked = pick_starts(
            points, config.starts, seed=config.seed, first=first, count=missing, weights=weights
        )
        used += missing
        found, dreamed = _round(picked, first, config, dream, render)
        groups += found
        dreams += dreamed
    return Harvest(groups=tuple(groups), dreams=tuple(dreams), starts_used=used)


def teaching(before: Mapping[str, float], groups: Sequence[ScoredGroup]) -> dict[str, float]:
    """How much of each task teaches: a running share of its groups, never so low that it is forgotten.

    A group teaches here when its own dreams ended differently: one where experts succeed and all dreams fail
    would draw the hopeless tasks most, and what the policy can do would be overwritten (log, 2026-11-30).

    Args:
        before: the shares until now; a new task begins at 1.
        groups: the latest, in order.
    """
    now = dict(before)
    for group in groups:
        task = group.start.task
        taught = float(len({c.reward for c in group.credits if c.source is Source.DREAM}) > 1)
        now[task] = max(LEAST_SHARE, KEPT * now.get(task, 1.0) + (1.0 - KEPT) * taught)
    return now


def _round(
    picked: Sequence[StartPoint],
    first: int,
    config: GspoConfig,
    dream: Dream,
    render: Render,
) -> tuple[list[ScoredGroup], list[Trajectory]]:
    requests: list[list[DreamRequest]] = []
    for k, point in enumerate(picked, start=first):
        count, _, _ = split_group(config.mix, experts=len(point.experts), live=len(point.own))
        requests.append([_request(point.start, config.seed, k, i) for i in range(count)])
    flat = iter(dream([r for rs in requests for r in rs]))
    groups: list[ScoredGroup] = []
    dreams: list[Trajectory] = []
    for k, (point, rs) in enumerate(zip(picked, requests, strict=True), start=first):
        mine = [next(flat) for _ in rs]
        dreams += mine
        groups.append(_scored(point, mine, config, render, derive_seed(config.seed, "mix", k)))
    return groups, dreams


def _request(start: Start, seed: int, k: int, i: int) -> DreamRequest:
    return DreamRequest(name=f"dream-{k}-{i}", start=start, seed=derive_seed(seed, "dream", k, i))


def _scored(
    point: StartPoint,
    mine: Sequence[Trajectory],
    config: GspoConfig,
    render: Render,
    seed: int,
) -> ScoredGroup:
    """Dreams that broke before their first step have no place in a group; they count as unknown."""
    begun = [t for t in mine if t.steps]
    group = mix_group(
        point.start, begun, point.experts, config.mix, render=render, seed=seed, live=point.own
    )
    broken = len(mine) - len(begun)
    if len(group.members) < 2:
        return ScoredGroup(
            start=point.start,
            status=GroupStatus.TOO_FEW,
            credits=(),
            unknown=broken + len(group.members),
        )
    scored = score_group(group, config.advantage)
    return ScoredGroup(
        start=scored.start,
        status=scored.status,
        credits=scored.credits,
        unknown=scored.unknown + broken,
    )
