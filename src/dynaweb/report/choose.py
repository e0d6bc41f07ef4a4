"""Which trajectories and imagined pages a reader gets to see: chosen by rule, never by hand."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from dynaweb.axtree.label import label_action
from dynaweb.bench.fidelity import Compared, Regime
from dynaweb.records.trajectory import Outcome, Trajectory
from dynaweb.report.data import Attempt, DreamedPage
from dynaweb.world.shown import as_shown

T = TypeVar("T")

ENDED = "(the episode ends here)"
"""Line that stands for the end of an episode, which no page shows."""


def choose_attempts(
    episodes: Mapping[str, Sequence[Trajectory]],
    dreams: Sequence[Trajectory],
    *,
    pages: int = 6,
    imagined: int = 6,
) -> tuple[Attempt, ...]:
    """Pages on which the arms ended differently, all arms side by side, one page a task; then dreams.

    Args:
        episodes: real attempts of each arm.
        dreams: imagined attempts.
        pages: how many pages, each with every arm's attempt.
        imagined: how many dreams, successes and failures in turn.
    """
    by_page: dict[tuple[str, int], list[Attempt]] = {}
    for arm, attempts in episodes.items():
        for t in attempts:
            by_page.setdefault((t.task, t.seed), []).append(Attempt(arm=arm, trajectory=t))
    split = sorted(by_page, key=lambda p: (len(_endings(by_page[p])) < 2, p[1], p[0]))
    chosen = spread(split, pages, key=lambda p: p[0])
    shown = [a for page in chosen for a in by_page[page]]
    return (*shown, *(Attempt(arm="dream", trajectory=t) for t in _in_turn(dreams, imagined)))


def choose_pages(compared: Sequence[Compared], *, count: int = 12) -> tuple[DreamedPage, ...]:
    """Imagined steps beside real ones, wrong and right in turn, spread over tasks.

    Steps that a model is for come before those that rules settle or that change nothing.
    """
    ask = (Regime.LOCAL, Regime.FULL_PAGE)
    ranked = sorted(
        compared, key=lambda c: (c.regime not in ask, c.known.seed, c.known.task, c.known.index)
    )
    wrong = spread([c for c in ranked if not c.right], count, key=lambda c: c.known.task)
    right = spread([c for c in ranked if c.right], count, key=lambda c: c.known.task)
    return tuple(dreamed_page(c) for c in _alternate(wrong, right)[:count])


def dreamed_page(compared: Compared) -> DreamedPage:
    """One measured step, for the page."""
    known, prediction = compared.known, compared.prediction
    before = known.history[-1]
    return DreamedPage(
        task=known.task,
        seed=known.seed,
        goal=known.goal,
        action=label_action(known.action, before),
        before=before.tree,
        truth=_tree(as_shown(known.next_page, before).tree, known.terminal),
        prediction=_tree(as_shown(prediction.observation, before).tree, prediction.terminal),
        exact=compared.right,
        step=known.index + 1,
        regime=compared.regime.value,
        status=prediction.status.value,
        by_rule=prediction.by_rule,
        confidence=prediction.confidence,
    )


def _tree(text: str, ended: bool) -> str:
    return f"{text}\n{ENDED}" if ended else text


def _endings(attempts: Sequence[Attempt]) -> set[Outcome]:
    return {a.trajectory.outcome for a in attempts}


def _in_turn(dreams: Sequence[Trajectory], count: int) -> list[Trajectory]:
    succeeded = [t for t in dreams if t.outcome is Outcome.SUCCESS]
    others = [t for t in dreams if t.outcome is not Outcome.SUCCESS]
    by_task = [spread(some, count, key=lambda t: t.task) for some in (succeeded, others)]
    return _alternate(*by_task)[:count]


def spread(items: Iterable[T], count: int, *, key: Callable[[T], str]) -> list[T]:
    """The first of every key, then the second of every key, and so on."""
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int, T]] = []
    for i, item in enumerate(items):
        ranked.append((seen[key(item)], i, item))
        seen[key(item)] += 1
    return [item for _, _, item in sorted(ranked, key=lambda r: r[:2])[:count]]


def _alternate(one: Sequence[T], other: Sequence[T]) -> list[T]:
    mixed = [x for pair in zip(one, other, strict=False) for x in pair]
    shorter = min(len(one), len(other))
    return [*mixed, *one[shorter:], *other[shorter:]]
