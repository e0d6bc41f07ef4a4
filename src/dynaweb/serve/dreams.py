"""Dreams that are open at a server, each with its name."""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dynaweb.contracts import Environment
from dynaweb.errors import WorldModelError
from dynaweb.serve.batcher import BusyError


@dataclass(slots=True)
class OpenDream:
    """One of them; its lock keeps steps of one dream in order."""

    environment: Environment
    touched: float
    """When it was last asked for, seconds of the monotonic clock."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class OpenDreams:
    """All of them. Those that nobody has touched for long give way when room is needed."""

    def __init__(
        self,
        make: Callable[[], Environment],
        *,
        most: int,
        idle_sec: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make each dream's environment with `make`; `most` at once, forgotten ones after `idle_sec`."""
        self._make = make
        self._most = most
        self._idle_sec = idle_sec
        self._clock = clock
        self._open: dict[str, OpenDream] = {}
        self.forgotten = 0
        """Dreams that were closed because nobody touched them."""

    def __len__(self) -> int:
        return len(self._open)

    async def open(self) -> tuple[str, OpenDream]:
        """A new dream and its name.

        Raises:
            BusyError: too many are open.
        """
        if len(self._open) >= self._most:
            await self._forget()
        if len(self._open) >= self._most:
            raise BusyError(f"{len(self._open)} dreams are open: close some, or try again later")
        name = secrets.token_hex(8)
        self._open[name] = OpenDream(self._make(), self._clock())
        return name, self._open[name]

    def get(self, name: str) -> OpenDream:
        """The dream of this name.

        Raises:
            WorldModelError: there is none, so whoever dreamed it cannot go on.
        """
        if name not in self._open:
            raise WorldModelError(
                f"no dream {name[:40]!r} is open here: it was closed, was idle for long, or the server was started anew"
            )
        dream = self._open[name]
        dream.touched = self._clock()
        return dream

    async def close(self, name: str) -> None:
        """Close a dream; one that is not open is closed already."""
        dream = self._open.pop(name, None)
        if dream is not None:
            await dream.environment.close()

    async def _forget(self) -> None:
        before = self._clock() - self._idle_sec
        idle = [n for n, d in self._open.items() if d.touched < before and not d.lock.locked()]
        for name in idle:
            await self.close(name)
        self.forgotten += len(idle)
