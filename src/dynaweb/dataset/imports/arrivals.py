"""Recordings in BrowserGym's manner: a row is the arrival at a page and the reply to it.

`terminated` and `truncated` belong to the arrival. So once a row has one of them its page is what the episode ended on,
and the reply to it was never executed: it is no step.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.dataset.imports.recorded import PageReader, ending, steps_of
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Reason, Step


class Arrival(Protocol):
    """What every such row says."""

    @property
    def terminated(self) -> bool:
        """The task ended with this page."""
        ...

    @property
    def truncated(self) -> bool:
        """The episode was stopped with this page."""
        ...


A = TypeVar("A", bound=Arrival)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording(Generic[A]):
    """Its valid rows, at least one, and what they come to."""

    rows: tuple[A, ...]
    steps: tuple[Step, ...]
    final: Observation | None
    reason: Reason
    detail: str

    @property
    def over(self) -> bool:
        """The recording reaches the episode's end, so its reward is the task's."""
        return self.final is not None


def _until_over(rows: Iterable[A], count: int, where: str, tally: Tally) -> Iterator[A]:
    """Rows up to the one that ended the episode; of `count` recorded rows the rest is counted."""
    for number, row in enumerate(rows):
        yield row
        if row.terminated or row.truncated:
            left = count - number - 1
            tally.drop("step after the episode's end", f"{where} step {number}", left)
            return


def read_recording(
    found: Iterable[A],
    count: int,
    page: Callable[[PageReader, A, str], Observation],
    reply: Callable[[A], tuple[str, str]],
    *,
    where: str,
    tally: Tally,
) -> Recording[A] | None:
    """Steps and ending of a recording; None when it has no valid row.

    Args:
        found: its rows up to the first invalid one.
        count: how many were recorded.
        page: what the agent saw, from a row and its place.
        reply: thought and call of a row.
        where: file and line, for people.
        tally: counts what is left out.
    """
    rows = tuple(_until_over(found, count, where, tally))
    if not rows:
        return None
    reader = PageReader(tally=tally, dialect=Dialect.BROWSERGYM)
    last, number = rows[-1], len(rows) - 1
    over = last.terminated or last.truncated
    steps: list[Step] = []
    for i, row in enumerate(rows[:-1] if over else rows):
        place = f"{where} step {i}"
        steps.extend(steps_of(page(reader, row, place), *reply(row), tally, place))
    if not over:
        tally.note("recording stops before the episode's end: outcome unknown", where)
        stops = "the recording stops" + ("" if len(rows) == count else " at an invalid step")
        return Recording(
            rows=rows,
            steps=tuple(steps),
            final=None,
            reason=Reason.RECORDING_STOPPED,
            detail=stops,
        )
    if reply(last)[1]:
        tally.note("reply after the episode's end was not executed: left out", where)
    by = steps[-1].action if steps else None
    reason = ending(by) if last.terminated else Reason.OUT_OF_STEPS
    final = page(reader, last, f"{where} step {number}")
    return Recording(rows=rows, steps=tuple(steps), final=final, reason=reason, detail="")
