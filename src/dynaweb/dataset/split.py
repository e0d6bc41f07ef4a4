"""Train and held-out sets: split by (task, seed), never by step, so no page is on both sides."""

from collections.abc import Iterable
from dataclasses import dataclass

from dynaweb.errors import UserError
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Two disjoint sets of trajectories."""

    train: tuple[Trajectory, ...]
    held_out: tuple[Trajectory, ...]


def is_held_out(task: str, seed: int, fraction: float, split_seed: int) -> bool:
    """Whether this page belongs to the held-out side: a hash, so every stage agrees on it."""
    return derive_seed(split_seed, "split", task, seed) % 10_000 < round(fraction * 10_000)


def split_by_seed(trajectories: Iterable[Trajectory], *, fraction: float, split_seed: int) -> Split:
    """Split by (task, seed).

    Raises:
        UserError: the fraction is not in [0, 1).
    """
    if not 0.0 <= fraction < 1.0:
        raise UserError(
            f"held-out fraction {fraction!r} is out of range: use 0 up to but not including 1"
        )
    train: list[Trajectory] = []
    held: list[Trajectory] = []
    for t in trajectories:
        (held if is_held_out(t.task, t.seed, fraction, split_seed) else train).append(t)
    return Split(train=tuple(train), held_out=tuple(held))


def split_by_task(trajectories: Iterable[Trajectory], *, fraction: float, split_seed: int) -> Split:
    """Split by task, all its seeds on one side: for benchmarks whose tasks are templates and seeds their instances.

    Raises:
        UserError: the fraction is not in (0, 1), or one side would hold nothing.
    """
    if not 0.0 < fraction < 1.0:
        raise UserError(f"held-out fraction {fraction!r} is out of range: use between 0 and 1")
    train: list[Trajectory] = []
    held: list[Trajectory] = []
    for t in trajectories:
        (held if is_held_out(t.task, 0, fraction, split_seed) else train).append(t)
    if not train or not held:
        raise UserError(
            f"{len({t.task for t in train + held})} task(s) cannot be split at {fraction!r}: give other files, or another fraction"
        )
    return Split(train=tuple(train), held_out=tuple(held))


def require_disjoint(
    train: Iterable[tuple[str, int]], reported: Iterable[tuple[str, int]], what: str
) -> None:
    """Refuse a report on pages that were trained on (papers F23).

    Raises:
        UserError: the two sets of (task, seed) overlap; names the first ones.
    """
    shared = sorted(set(train) & set(reported))
    if shared:
        shown = ", ".join(f"{task}/{seed}" for task, seed in shared[:3])
        raise UserError(
            f"{what} overlaps the training pages in {len(shared)} (task, seed) pairs, e.g. {shown}: use other seeds"
        )
