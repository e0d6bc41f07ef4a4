"""One iteration's groups: starts, fresh attempts, experts, credit; groups without variance are made again.

Fresh attempts of one group are all dreamt or all made in the real browser, never both: what a judge says
and what a page says are not compared with each other. Everything is named by the number of its start in the
endless sequence of starts, so a resumed run makes what an undisturbed one would have.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from dynaweb.batch.advantage import GroupStatus, ScoredGroup, score_group, uncompared
from dynaweb.batch.expert import ExpertMode, is_hard, set_apart
from dynaweb.batch.mix import Render, mix_group, split_group
from dynaweb.batch.source import Source
from dynaweb.batch.summary import Metrics, summarise
from dynaweb.dream.run import DreamRequest
from dynaweb.dream.starts import NO_WEIGHTS, StartPoint, pick_starts
from dynaweb.gspo.config import GspoConfig
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Outcome, Reason, Start, Trajectory, World

KEPT = 0.7
"""Part of a task's running share that a new group leaves: about three groups are remembered."""
LEAST_SHARE = 0.1
"""A task that no longer teaches is still tried this often, relative to one that does."""

Attempt = Callable[[Sequence[DreamRequest]], list[Trajectory]]
"""Attempts of the present policy from the starts of the requests, in order, all in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """What one iteration tried."""

    groups: tuple[ScoredGroup, ...]
    """Every group, also those that teach nothing."""
    dreams: tuple[Trajectory, ...]
    """Every dream, also those of unknown outcome."""
    starts_used: int
    """How far the sequence of starts has moved."""
    live: tuple[Trajectory, ...] = ()
    """Every attempt in the real browser, also those of unknown outcome."""
    elsewhere: int = 0
    """Live attempts whose replayed actions led to another page than the group's: unknown, out of the group."""

    @property
    def trained(self) -> tuple[ScoredGroup, ...]:
        """Groups that go into the update."""
        return tuple(g for g in self.groups if g.status is GroupStatus.TRAINED)

    @property
    def shown(self) -> tuple[Trajectory, ...]:
        """Experts to imitate, of groups that teach nothing by comparison too."""
        return tuple(t for g in self.groups for t in g.shown)

    @property
    def live_steps(self) -> int:
        """Real actions, those that lead to an intermediate start included: what live experience costs."""
        return sum(s.action is not None for t in self.live for s in t.past + t.steps)

    def metrics(self) -> Metrics:
        """Groups and members by source, and how attempts ended."""
        m = summarise(self.groups)
        m["starts"] = float(self.starts_used)
        m["members_elsewhere"] = float(self.elsewhere)
        for source, made in ((Source.DREAM, self.dreams), (Source.LIVE, self.live)):
            ends = Counter(t.reason for t in made)
            wins = sum(t.outcome is Outcome.SUCCESS for t in made)
            known = sum(t.outcome is not Outcome.UNKNOWN for t in made)
            m[f"{source.value}/attempts"] = float(len(made))
            m[f"{source.value}/success_rate"] = wins / known if known else None
            for reason in Reason:
                m[f"{source.value}/ended_{reason.value}"] = float(ends[reason])
        m["live/real_steps"] = float(self.live_steps)
        return m


def harvest(
    points: Sequence[StartPoint],
    config: GspoConfig,
    *,
    first_start: int,
    dream: Attempt,
    render: Render,
    live: Attempt | None = None,
    live_steps: int = 0,
    weights: Mapping[str, float] = NO_WEIGHTS,
) -> Harvest:
    """Make attempts until enough groups teach something, or the budget of rounds is used up.

    Args:
        points: where attempts may begin.
        config: how many, of what.
        first_start: number of the next start.
        dream: attempts in the world model.
        render: experts in the policy's own words.
        live: attempts in the real browser; None when `config.live.share` is 0.
        live_steps: real actions of earlier iterations, against `config.live.budget`.
        weights: of tasks, see `pick_starts`.
    """
    crop = Harvest(groups=(), dreams=(), starts_used=0)
    for _ in range(1 + config.resample_rounds):
        missing = config.groups - len(crop.trained)
        spent = live is None or config.live.spent(live_steps + crop.live_steps)
        if missing == 0 or (spent and config.live.share == 1.0):
            break
        first = first_start + crop.starts_used
        picked = pick_starts(
            points, config.starts, seed=config.seed, first=first, count=missing, weights=weights
        )
        crop = _joined(crop, _round(picked, first, config, dream, None if spent else live, render))
    return crop


def teaching(before: Mapping[str, float], groups: Sequence[ScoredGroup]) -> dict[str, float]:
    """How much of each task teaches: a running share of its groups, never so low that it is forgotten.

    A group teaches here when its own fresh attempts ended differently: one where experts succeed and all dreams
    fail would draw the hopeless tasks most, and what the policy can do would be overwritten (log, 2026-11-30).

    Args:
        before: the shares until now; a new task begins at 1.
        groups: the latest, in order.
    """
    now = dict(before)
    for group in groups:
        task = group.start.task
        dreamt = any(c.source is Source.DREAM for c in group.credits)
        fresh = Source.DREAM if dreamt else Source.LIVE
        taught = float(len({c.reward for c in group.credits if c.source is fresh}) > 1)
        now[task] = max(LEAST_SHARE, KEPT * now.get(task, 1.0) + (1.0 - KEPT) * taught)
    return now


def _joined(one: Harvest, other: Harvest) -> Harvest:
    return Harvest(
        groups=one.groups + other.groups,
        dreams=one.dreams + other.dreams,
        live=one.live + other.live,
        starts_used=one.starts_used + other.starts_used,
        elsewhere=one.elsewhere + other.elsewhere,
    )


def _round(
    picked: Sequence[StartPoint],
    first: int,
    config: GspoConfig,
    dream: Attempt,
    live: Attempt | None,
    render: Render,
) -> Harvest:
    """One group for each start."""
    requests: list[list[DreamRequest]] = []
    worlds: list[World] = []

    def allowed(point: StartPoint) -> bool:
        return config.live.share == 1.0 or config.live.allows(point.start.task)

    for k, point in enumerate(picked, start=first):
        draw = Random(derive_seed(config.seed, "world", k)).random()
        real = live is not None and draw < config.live.share and allowed(point)
        worlds.append(World.LIVE if real else World.DREAM)
        experts = len(_members(point, config))
        count, _, _ = split_group(config.mix, experts=experts, live=len(point.own))
        name = worlds[-1].value
        requests.append([_request(name, point.start, config.seed, k, i) for i in range(count)])
    made = {
        World.DREAM: iter(_tried(dream, requests, worlds, World.DREAM)),
        World.LIVE: iter(_tried(live, requests, worlds, World.LIVE)),
    }
    groups: list[ScoredGroup] = []
    tried: dict[World, list[Trajectory]] = {World.DREAM: [], World.LIVE: []}
    elsewhere = 0
    for k, (point, rs, world) in enumerate(zip(picked, requests, worlds, strict=True), start=first):
        mine = [next(made[world]) for _ in rs]
        tried[world] += mine
        elsewhere += sum(bool(t.steps) and not _begins_at(t, point.start) for t in mine)
        groups.append(_scored(point, mine, config, render, derive_seed(config.seed, "mix", k)))
    return Harvest(
        groups=tuple(groups),
        dreams=tuple(tried[World.DREAM]),
        live=tuple(tried[World.LIVE]),
        starts_used=len(picked),
        elsewhere=elsewhere,
    )


def _tried(
    attempt: Attempt | None,
    requests: Sequence[Sequence[DreamRequest]],
    worlds: Sequence[World],
    world: World,
) -> list[Trajectory]:
    flat = [r for rs, w in zip(requests, worlds, strict=True) for r in rs if w is world]
    return attempt(flat) if attempt is not None and flat else []


def _request(world: str, start: Start, seed: int, k: int, i: int) -> DreamRequest:
    return DreamRequest(name=f"{world}-{k}-{i}", start=start, seed=derive_seed(seed, world, k, i))


def _members(point: StartPoint, config: GspoConfig) -> tuple[Trajectory, ...]:
    """Experts that take places in the group."""
    return point.experts if config.update.experts.mode.takes_places else ()


def _begins_at(t: Trajectory, start: Start) -> bool:
    return (t.steps[0].observation.tree, t.goal) == (start.observation.tree, start.goal)


def _scored(
    point: StartPoint,
    mine: Sequence[Trajectory],
    config: GspoConfig,
    render: Render,
    seed: int,
) -> ScoredGroup:
    """Attempts that broke before their first step, or began elsewhere, have no place in a group: unknown."""
    mode = config.update.experts.mode
    begun = [t for t in mine if t.steps and _begins_at(t, point.start)]
    experts = _members(point, config)
    group = mix_group(
        point.start, begun, experts, config.mix, render=render, seed=seed, live=point.own
    )
    compared, shown = set_apart(group, mode)
    small = len(compared.members) < 2
    scored = uncompared(compared) if small else score_group(compared, config.advantage)
    if mode is ExpertMode.HARD_ONLY and point.experts and is_hard(scored):
        shown = (render(Random(derive_seed(seed, "shown")).choice(point.experts)),)
    return replace(scored, shown=shown, unknown=scored.unknown + len(mine) - len(begun))
