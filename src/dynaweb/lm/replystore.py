"""Replies that were paid for once: SQLite in WAL mode, one row for each different request to each model.

What is asked again, by a command that was killed or by another one, is answered from here. Several processes
may share a store. The key is the model's name and everything that was asked, the seed included; the address is
not part of it, so a server that moves keeps its replies.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path

from dynaweb.contracts import ChatReply
from dynaweb.errors import StorageError
from dynaweb.records.fieldcodec import codec_for

STORE_SCHEMA = 1
"""Version of the table; kept in SQLite's `user_version`."""

_REPLY = codec_for(ChatReply)


def reply_key(body: Mapping[str, object]) -> str:
    """Sixty-four hexadecimal digits of the whole request, the model's name in it."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode("ascii")).hexdigest()


class ReplyStore:
    """Replies by request. Threads may share one."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            StorageError: it is something else, or cannot be written.
        """
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, timeout=30, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise self._broken(error) from error
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._file.close()
            raise self._broken(error) from error
        except StorageError:
            self._file.close()
            raise

    def _prepare(self) -> None:
        version = int(self._file.execute("PRAGMA user_version").fetchone()[0])
        if version not in (0, STORE_SCHEMA):
            raise StorageError(
                f"replies in {str(self._path)!r} have version {version}; this dynaweb reads {STORE_SCHEMA}: use another file"
            )
        self._file.execute("PRAGMA journal_mode=WAL")
        # a power cut may lose the last replies, a killed process none
        self._file.execute("PRAGMA synchronous=NORMAL")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, request TEXT NOT NULL, reply TEXT NOT NULL) WITHOUT ROWID"
        )
        self._file.execute(f"PRAGMA user_version={STORE_SCHEMA}")
        self._file.commit()

    def get(self, key: str) -> ChatReply | None:
        """The reply to the request with this `reply_key`.

        Raises:
            StorageError: the file is damaged.
        """
        try:
            with self._lock:
                row = self._file.execute(
                    "SELECT reply FROM replies WHERE key = ?", (key,)
                ).fetchone()
            if row is None:
                return None
            reply = _REPLY.decode(json.loads(row[0]), "reply")
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise self._broken(error) from error
        assert isinstance(reply, ChatReply)
        return reply

    def put(self, key: str, body: Mapping[str, object], reply: ChatReply) -> None:
        """Keep a reply; one that is there already stays.

        Raises:
            StorageError: the file cannot be written.
        """
        assert reply.finish != "error", "a failure is asked again, not kept"
        row = (key, json.dumps(body), json.dumps(_REPLY.encode(reply)))
        try:
            with self._lock, self._file:
                self._file.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", row)
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def __len__(self) -> int:
        with self._lock:
            return int(self._file.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Safe to call twice."""
        with self._lock:
            self._file.close()

    def _broken(self, error: Exception) -> StorageError:
        return StorageError(
            f"replies in {str(self._path)!r} cannot be used ({error}): move the file away, or name another"
        )
