"""What an import read, kept and left out. Counting is part of the result: a silent gap is a wrong data set."""

from dataclasses import dataclass, field

from dynaweb.records.trajectory import Trajectory


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of one import, in the order things were met."""

    rows: int = 0
    """Rows (lines, messages, pages) read from the sources."""
    read_bytes: int = 0
    """Bytes of the sources that were read, unpacked."""
    trajectories: int = 0
    """Trajectories written."""
    steps: int = 0
    """Steps written."""
    transitions: int = 0
    """Steps with an action and a next page."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Reason -> how many rows, steps or bytes were left out for it."""
    noted: dict[str, int] = field(default_factory=dict)
    """What was kept although it is odd, or was kept changed -> how often."""
    first: dict[str, str] = field(default_factory=dict)
    """Reason -> where it was met first, and what stood there."""

    def add(self, trajectory: Trajectory) -> None:
        """Count a trajectory that was kept."""
        self.trajectories += 1
        self.steps += len(trajectory.steps)
        self.transitions += len(trajectory.transitions())

    def drop(self, reason: str, where: str, count: int = 1) -> None:
        """Count something that was left out."""
        self._count(self.dropped, reason, where, count)

    def note(self, reason: str, where: str, count: int = 1) -> None:
        """Count something odd that was kept."""
        self._count(self.noted, reason, where, count)

    def _count(self, counter: dict[str, int], reason: str, where: str, count: int) -> None:
        if count:
            counter[reason] = counter.get(reason, 0) + count
            self.first.setdefault(reason, where)


def told(counts: dict[str, int], first: dict[str, str]) -> list[str]:
    """One line for each reason, most frequent first, with the place where it was met first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count:>7}  {reason}  (first: {first.get(reason, '')})" for reason, count in ordered]
