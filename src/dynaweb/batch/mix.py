"""Dreams and demonstrations in one group: a share of the dreamed members is replaced by experts.

DynaWeb 4.1 replaces half of the dreamed trajectories by gold ones, interleaved at random; 1 also names
the policy's real attempts as a third source. An expert member is the expert's suffix from the group's
start, said again in the policy's own prompt (`render`), so that conditions match training.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from dynaweb.batch.source import Source, source_of
from dynaweb.errors import UserError
from dynaweb.records.trajectory import Group, Outcome, Start, Trajectory

Render = Callable[[Trajectory], Trajectory]
"""An expert trajectory with the generations the policy would have made to act like it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixConfig:
    """What a group is made of."""

    group_size: int = 8
    """Members of a group, experts included."""
    expert_share: float = 0.5
    """Share of members that are the expert's, where the start has an expert (DynaWeb 4.1: 0.5)."""
    live_share: float = 0.0
    """Share of members that are the policy's own live successes, where it had one from the same start
    (third source of DynaWeb 1; share ours)."""

    def __post_init__(self) -> None:
        if self.group_size < 2:
            raise UserError(f"group_size {self.group_size!r} is too small: use 2 or more")
        if not 0.0 <= self.expert_share <= 1.0:
            raise UserError(f"expert_share {self.expert_share!r} is out of range: use 0 to 1")
        if not 0.0 <= self.live_share <= 1.0 - self.expert_share:
            raise UserError(
                f"live_share {self.live_share!r} is out of range: use 0 to {1.0 - self.expert_share} beside expert_share {self.expert_share}"
            )


def split_group(config: MixConfig, *, experts: int, live: int) -> tuple[int, int, int]:
    """How many members are (fresh, experts, live), given how many of each the start has.

    Only the dreams that will be kept are dreamed: replacing a member costs nothing. Live successes
    leave room for one dream at least, without which a group of successes would teach nothing.
    """
    n_expert = round(config.group_size * config.expert_share) if experts else 0
    room = max(config.group_size - n_expert - 1, 0)
    n_live = min(round(config.group_size * config.live_share), room) if live else 0
    return config.group_size - n_expert - n_live, n_expert, n_live


def mix_group(
    start: Start,
    fresh: Sequence[Trajectory],
    experts: Sequence[Trajectory],
    config: MixConfig,
    *,
    render: Render,
    seed: int,
    live: Sequence[Trajectory] = (),
) -> Group:
    """Put a group together in a seeded random order.

    Args:
        start: where every member begins.
        fresh: the policy's attempts of now, dreamed or live; at least as many as `split_group` asks for, the
            rest is left out.
        experts: demonstrations from this start; taken in turn when there are fewer than asked for.
        config: shares.
        render: see `Render`.
        seed: order of the members, and which experts are taken first.
        live: the policy's own live attempts from this start; only successes are taken, in turn like experts.

    Raises:
        ValueError: a member that is no success is offered as an expert, an expert as the policy's own, attempts
            of two worlds as fresh, or a member begins elsewhere.
    """
    _check(fresh, experts)
    wins = [t for t in live if t.outcome is Outcome.SUCCESS]
    n_fresh, n_expert, n_live = split_group(config, experts=len(experts), live=len(wins))
    rng = Random(seed)
    turn = rng.sample(range(len(experts)), len(experts))
    chosen = [render(experts[turn[i % len(turn)]]) for i in range(n_expert)]
    again = [wins[i % len(wins)] for i in range(n_live)]
    members = [*fresh[:n_fresh], *chosen, *again]
    rng.shuffle(members)
    return Group(start=start, members=tuple(members))


def _check(fresh: Sequence[Trajectory], experts: Sequence[Trajectory]) -> None:
    for t in fresh:
        if source_of(t) is Source.EXPERT:
            raise ValueError(
                f"trajectory {t.trajectory_id!r} is offered as the policy's and is none"
            )
    if len({t.world for t in fresh}) > 1:
        raise ValueError(
            f"dreams and live attempts at {fresh[0].task!r} are offered as one: a judge's verdicts and a page's "
            "rewards are not compared"
        )
    for t in experts:
        if source_of(t) is not Source.EXPERT or t.outcome is not Outcome.SUCCESS:
            raise ValueError(
                f"trajectory {t.trajectory_id!r} ({t.behaviour}, {t.outcome}) is not an expert's success"
            )
