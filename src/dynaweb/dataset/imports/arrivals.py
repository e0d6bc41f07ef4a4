"""Recordings in BrowserGym's manner: a row is the arrival at a page and the reply to it.

`terminated` and `truncated` belong to the arrival. So once a row has one of them its page is what the episode ended on,
and the reply to it was never executed: it is no step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from dynaweb.dataset.imports.recorded import ending
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
class Ending:
    """How a recording ended."""

    steps: tuple[Step, ...]
    final: Observation | None
    reason: Reason
    detail: str

    @property
    def over(self) -> bool:
        """The recording reaches the episode's end, so its reward is the task's."""
        return self.final is not None


def until_over(rows: Sequence[A | None], where: str, tally: Tally) -> Iterator[A]:
    """Rows up to the first that is not valid (None) or ended the episode; the rest is counted."""
    for number, found in enumerate(rows):
        left, place = len(rows) - number - 1, f"{where} step {number}"
        if found is None:
            tally.drop("step after an invalid one", place, left)
            return
        yield found
        if found.terminated or found.truncated:
            tally.drop("step after the episode's end", place, left)
            return


def ended(
    last: Arrival, steps: Sequence[Step], *, replied: bool, whole: bool, where: str, tally: Tally
) -> Ending:
    """The ending of a recording.

    Args:
        last: its last valid row.
        steps: a step for every row, that of `last` included.
        replied: the last row holds a reply.
        whole: no row was left out.
        where: file and line, for people.
        tally: counts what is left out.
    """
    if not (last.terminated or last.truncated):
        tally.note("recording stops before the episode's end: outcome unknown", where)
        stops = "the recording stops" + ("" if whole else " at an invalid step")
        return Ending(steps=tuple(steps), final=None, reason=Reason.BROWSER_FAULT, detail=stops)
    if replied:
        tally.note("reply after the episode's end was not executed: left out", where)
    done = tuple(steps[:-1])
    by = done[-1].action if done else None
    reason = ending(by) if last.terminated else Reason.OUT_OF_STEPS
    return Ending(steps=done, final=steps[-1].observation, reason=reason, detail="")
