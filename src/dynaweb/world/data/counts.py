"""What became of everything that was read: counts that add up, merged shard by shard."""

from collections import Counter
from dataclasses import dataclass, field
from typing import cast

from dynaweb.world.data.row import Row


@dataclass(slots=True)
class Counts:
    """Counters by name; each counts what its first word says.

    `steps` = sum of `kept` + sum of `dropped`; for each form F, sum of `kept` = `F.taught` + sum of `F.dropped.*`.
    """

    tables: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, table: str, name: str, count: int = 1) -> None:
        """Count something."""
        if count:
            self.tables.setdefault(table, Counter())[name] += count

    def total(self, table: str) -> int:
        """Sum of a table; 0 when there is none."""
        return self.tables.get(table, Counter()).total()

    def rows(self, row: Row, tokens: int | None) -> None:
        """Count a row that was written."""
        place = f"{row.side} {folder_of(row)}"
        self.add("rows", place)
        self.add("rows by kind", f"{row.side} {row.kind.value}")
        self.add("rows by format of pages", row.view)
        self.add("rows by annotation", row.annotation or "none needed")
        self.add("rows by site", row.site or "(user's file)")
        self.add("rows by task", row.task or "(user's file)")
        self.add("rows by source", row.origin or "unknown")
        self.add("rows by licence", row.license or "unknown")
        self.add(f"chars of {place}", str(row.chars))
        if tokens is not None:
            self.add(f"tokens of {place}", str(tokens))
        for action in row.actions:
            self.add("answers by action", action)

    def merge(self, other: "Counts") -> None:
        """Add another's."""
        for name, table in other.tables.items():
            self.tables.setdefault(name, Counter()).update(table)

    def plain(self) -> dict[str, dict[str, int]]:
        """As JSON holds it."""
        return {name: dict(table) for name, table in self.tables.items()}

    def check(self, forms: tuple[str, ...]) -> None:
        """That everything adds up: anything else is a bug of ours."""
        kept, steps = self.total("kept"), self.total("steps")
        assert steps == kept + self.total("dropped"), (steps, kept, self.tables.get("dropped"))
        for form in forms:
            taught, left = self.total(f"{form}: taught"), self.total(f"{form}: dropped")
            assert kept == taught + left, (form, kept, taught, left)


def read_counts(body: object) -> Counts:
    """What `plain` gave."""
    tables = cast(dict[str, dict[str, int]], body)
    return Counts({name: Counter(table) for name, table in tables.items()})


def folder_of(row: Row) -> str:
    """Folder of a row below its side: its form, or what else it is."""
    return "cot" if row.kind.value == "cot" else row.form or row.kind.value


def quantiles(lengths: Counter[str]) -> tuple[int, int, int, int]:
    """Median, 90th, 99th percentile (nearest rank) and the largest of counted lengths; at least one."""
    ordered = sorted((int(value), count) for value, count in lengths.items())
    total = lengths.total()

    def at(share: float) -> int:
        rank, seen = max(1, -(-int(share * 100) * total // 100)), 0
        for value, count in ordered:
            seen += count
            if seen >= rank:
                return value
        return ordered[-1][0]

    return at(0.5), at(0.9), at(0.99), ordered[-1][0]
