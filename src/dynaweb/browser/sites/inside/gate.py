"""A door that many pass together, or one alone (readers and writer; the writer goes first)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Requests pass together; a reset waits for those inside and keeps others out."""

    def __init__(self) -> None:
        """Open."""
        self._changed = threading.Condition()
        self._inside = 0
        self._taken = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Inside together with others."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taken)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Inside with nobody else."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taken)
            self._taken = True
            self._changed.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()
