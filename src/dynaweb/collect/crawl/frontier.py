"""Where to go next: a SQLite file (WAL) with every address that was met, and why it was or was not visited.

One writer, held by the lock of the run folder. A visit is `taken` while it lasts; what a killed crawl left so is found
again when the file is opened, and `log.py` says what had been seen of it.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dynaweb.errors import StorageError
from dynaweb.records.seeds import derive_seed

_SCHEMA = """
CREATE TABLE IF NOT EXISTS address (
  id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, pattern TEXT NOT NULL, depth INTEGER NOT NULL,
  place INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '');
"""
_SCHEMA_VISIT = """
CREATE TABLE IF NOT EXISTS visit (
  id INTEGER PRIMARY KEY, address INTEGER NOT NULL REFERENCES address(id), nth INTEGER NOT NULL,
  state TEXT NOT NULL, steps INTEGER NOT NULL DEFAULT 0, shard INTEGER NOT NULL DEFAULT 0);
"""
_SCHEMA_SESSION = """
CREATE TABLE IF NOT EXISTS session (id INTEGER PRIMARY KEY, steps INTEGER NOT NULL, seconds REAL NOT NULL);
"""
_INDEXES = (
    "CREATE INDEX IF NOT EXISTS waiting ON address(state, depth, place)",
    "CREATE INDEX IF NOT EXISTS alike ON address(pattern) WHERE state != 'dropped'",
    "CREATE INDEX IF NOT EXISTS visits ON visit(address)",
    "CREATE INDEX IF NOT EXISTS taken ON visit(state)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One visit to one address."""

    visit_id: int
    url: str
    depth: int
    """Links followed from a start."""
    nth: int
    """Visits to this address before."""

    @property
    def name(self) -> str:
        """Id of its trajectory."""
        return f"crawl/{self.visit_id}"


class Frontier:
    """The addresses of one crawl. Close it, or use it in a `with` block."""

    def __init__(self, path: Path, *, seed: int, per_pattern: int, max_depth: int) -> None:
        """Open the file, or make it.

        Args:
            path: SQLite file; its folder must exist.
            seed: of the order in which addresses of one depth are visited.
            per_pattern: see `CrawlConfig`.
            max_depth: see `CrawlConfig`.

        Raises:
            StorageError: it is no such file, or cannot be written.
        """
        self._seed, self._per_pattern, self._max_depth = seed, per_pattern, max_depth
        self._path = path
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            for statement in (_SCHEMA, _SCHEMA_VISIT, _SCHEMA_SESSION, *_INDEXES):
                self._db.execute(statement)
        except sqlite3.Error as error:
            raise StorageError(f"cannot use {path} as a frontier: {error}") from error

    def add(self, found: Iterable[tuple[str, str, str]], depth: int) -> None:
        """Note addresses, each once.

        Args:
            found: address, pattern, and why it is not visited (empty when it may be).
            depth: links followed from a start.
        """
        with self._transaction():
            for url, pattern, reason in found:
                if self._one("SELECT 1 FROM address WHERE url=?", url):
                    continue
                why = reason or self._full(pattern, depth)
                self._do(
                    "INSERT INTO address (url, pattern, depth, place, state, reason) VALUES (?,?,?,?,?,?)",
                    url, pattern, depth, derive_seed(self._seed, url) >> 1, "dropped" if why else "waiting", why,
                )  # fmt: skip

    def _full(self, pattern: str, depth: int) -> str:
        if depth > self._max_depth:
            return "too deep"
        alike = self._one(
            "SELECT COUNT(*) FROM address WHERE pattern=? AND state != 'dropped'", pattern
        )
        return "too many alike" if depth > 0 and alike >= self._per_pattern else ""

    def take(self, shard: int) -> Visit | None:
        """The next visit, now under way; None when no address waits.

        Args:
            shard: of the log, where the visit's records begin.
        """
        with self._transaction():
            row = self._row(
                "SELECT id, url, depth FROM address WHERE state='waiting' ORDER BY depth, place LIMIT 1"
            )
            if row is None:
                return None
            address, url, depth = row
            nth = self._one("SELECT COUNT(*) FROM visit WHERE address=?", address)
            self._do("UPDATE address SET state='taken' WHERE id=?", address)
            visit_id = self._do(
                "INSERT INTO visit (address, nth, state, shard) VALUES (?,?,'taken',?)", address, nth, shard
            )  # fmt: skip
        return Visit(visit_id=visit_id, url=str(url), depth=int(str(depth)), nth=nth)

    def waits(self) -> bool:
        """Some address waits."""
        return self._row("SELECT 1 FROM address WHERE state='waiting' LIMIT 1") is not None

    def done(self, visit: Visit, *, steps: int, again: int) -> None:
        """The visit is over; the address waits once more while it has had fewer than `again`."""
        with self._transaction():
            seen = 1 + self._number_of(visit, "done")
            self._do("UPDATE visit SET state='done', steps=? WHERE id=?", steps, visit.visit_id)
            self._set(visit, "waiting" if seen < again else "done", "")

    def failed(self, visit: Visit, reason: str, *, tries: int, state: str = "broken") -> None:
        """Nothing was seen; the address waits again, or is dropped after so many tries that ended in this state."""
        with self._transaction():
            failures = 1 + self._number_of(visit, state)
            self._do("UPDATE visit SET state=? WHERE id=?", state, visit.visit_id)
            self._set(visit, "dropped" if failures >= tries else "waiting", reason)

    def _number_of(self, visit: Visit, state: str) -> int:
        return self._one(
            "SELECT COUNT(*) FROM visit WHERE state=? AND address=(SELECT address FROM visit WHERE id=?)",
            state, visit.visit_id,
        )  # fmt: skip

    def _set(self, visit: Visit, state: str, reason: str) -> None:
        self._do(
            "UPDATE address SET state=?, reason=? WHERE id=(SELECT address FROM visit WHERE id=?)",
            state, reason, visit.visit_id,
        )  # fmt: skip

    def left_open(self) -> list[tuple[Visit, int]]:
        """Visits that a killed crawl left under way, each with the shard where its records begin."""
        rows = self._rows(
            "SELECT v.id, a.url, a.depth, v.nth, v.shard FROM visit v JOIN address a ON a.id=v.address "
            "WHERE v.state='taken' ORDER BY v.id"
        )
        return [
            (Visit(visit_id=_int(i), url=str(u), depth=_int(d), nth=_int(n)), _int(s))
            for i, u, d, n, s in rows
        ]

    def totals(self) -> tuple[int, int]:
        """Visits that are over, and their steps."""
        return self._pair("SELECT COUNT(*), COALESCE(SUM(steps), 0) FROM visit WHERE state='done'")

    def _pair(self, statement: str) -> tuple[int, int]:
        row = self._row(statement)
        assert row is not None
        return _int(row[0]), _int(row[1])

    def begin_session(self) -> int:
        """Note that a process crawls; its number."""
        with self._transaction():
            return self._do("INSERT INTO session (steps, seconds) VALUES (0, 0.0)")

    def clock(self, session: int, steps: int, seconds: float) -> None:
        """How far a session is: steps, and wall-clock seconds since the browser stood ready."""
        with self._transaction():
            self._do("UPDATE session SET steps=?, seconds=? WHERE id=?", steps, seconds, session)

    def speed(self) -> tuple[int, float]:
        """Steps and wall-clock seconds of all sessions together."""
        row = self._row("SELECT COALESCE(SUM(steps), 0), COALESCE(SUM(seconds), 0.0) FROM session")
        assert row is not None
        return _int(row[0]), float(str(row[1]))

    def counts(self) -> dict[str, int]:
        """Addresses by state, those dropped by reason: `dropped: robots.txt`."""
        rows = self._rows(
            "SELECT CASE WHEN state='dropped' THEN 'dropped: ' || reason ELSE state END AS s, COUNT(*) FROM address GROUP BY s ORDER BY s"
        )
        return {str(s): _int(n) for s, n in rows}

    def close(self) -> None:
        """Safe to call twice."""
        self._db.close()

    def __enter__(self) -> "Frontier":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _transaction(self) -> "_Transaction":
        return _Transaction(self._db, self._path)

    def _do(self, statement: str, *values: object) -> int:
        return self._db.execute(statement, values).lastrowid or 0

    def _row(self, statement: str, *values: object) -> Sequence[object] | None:
        row: Sequence[object] | None = self._db.execute(statement, values).fetchone()
        return row

    def _rows(self, statement: str) -> list[Sequence[object]]:
        return self._db.execute(statement).fetchall()

    def _one(self, statement: str, *values: object) -> int:
        row = self._row(statement, *values)
        return _int(row[0]) if row is not None else 0


class _Transaction:
    """All or nothing; errors of the file become ours."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db, self._path = db, path

    def __enter__(self) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise StorageError(f"cannot write {self._path}: {error}") from error

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: object) -> None:
        try:
            self._db.execute("ROLLBACK" if kind is not None else "COMMIT")
        except sqlite3.Error as error:
            raise StorageError(f"cannot write {self._path}: {error}") from error


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value
