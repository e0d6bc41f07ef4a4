"""What training and measurement share: nothing they may, and how much they do (papers F23)."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dynaweb.bench.results import Share
from dynaweb.bench.worlds.cases import Case
from dynaweb.dataset.split import require_disjoint
from dynaweb.errors import UserError
from dynaweb.records.action import print_action
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.steps import Known, known_steps

_NOTHING = Share()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Of the measured transitions, those that training holds too, under other tasks or seeds."""

    tasks: Share = _NOTHING
    """Measured tasks that training has too (on other seeds)."""
    steps: Share = _NOTHING
    """The same page, action and next page, byte for byte."""
    questions: Share = _NOTHING
    """The same page and action, whatever came of it."""
    pages: Share = _NOTHING
    """The same page."""


def require_unseen(training: Sequence[Trajectory], cases: Sequence[Case]) -> None:
    """Refuse a measurement on what was trained on.

    Raises:
        UserError: an attempt, or a (task, seed), stands on both sides; names the first ones.
    """
    mine = {c.known.trajectory_id for c in cases}
    shared = sorted(mine & {t.trajectory_id for t in training})
    if shared:
        raise UserError(
            f"{len(shared)} measured attempt(s) stand among the training files too, e.g. {shared[0]!r}: measure on others"
        )
    require_disjoint(
        ((t.task, t.seed) for t in training),
        ((c.known.task, c.known.seed) for c in cases),
        "what is measured",
    )


def measure_overlap(training: Iterable[Trajectory], cases: Sequence[Case]) -> Overlap:
    """Count what is alike all the same."""
    tasks: set[str] = set()
    seen: set[bytes] = set()
    for t in training:
        tasks.add(t.task)
        for known in known_steps(t):
            seen.update(_prints(known))
    found = [[p in seen for p in _prints(c.known)] for c in cases]
    pages, questions, steps = (sum(column) for column in zip(*found, strict=True))
    measured = {c.known.task for c in cases}
    n = len(cases)
    return Overlap(
        tasks=Share(hits=len(measured & tasks), n=len(measured)),
        steps=Share(hits=steps, n=n),
        questions=Share(hits=questions, n=n),
        pages=Share(hits=pages, n=n),
    )


def _prints(known: Known) -> tuple[bytes, bytes, bytes]:
    """Of the page, of page and action, of all three."""
    here, action, after = (
        _page(known.history[-1]),
        print_action(known.action),
        _page(known.next_page),
    )
    return _hash("page", here), _hash("asked", here, action), _hash("step", here, action, after)


def _page(page: Observation) -> str:
    return f"{page.url}\n{page.tree}"


def _hash(*parts: str) -> bytes:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()
