"""Where a server listens and how much it takes. Importable without the packages that serve."""

from dataclasses import dataclass

from dynaweb.errors import UserError
from dynaweb.lm.config import is_loopback


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeConfig:
    """A server on this machine; nothing else can reach it."""

    host: str = "127.0.0.1"
    """Loopback address or name to listen at; there are no users and no keys, so any other is refused."""
    port: int = 8000
    """Port to listen at; 0 takes a free one."""
    max_batch: int = 16
    """Most questions that are answered together."""
    max_waiting: int = 1024
    """Most questions that may wait; one more is sent away with HTTP 503."""
    max_body_bytes: int = 16 << 20
    """Longest request, bytes; a longer one is refused with HTTP 413."""
    max_new_tokens: int = 1024
    """Longest reply of a request that does not say, tokens."""
    max_episodes: int = 1024
    """Most dreams that are open at once; one more is refused with HTTP 503."""
    idle_sec: float = 3600.0
    """A dream that nobody touched for so long is closed when room is needed, seconds."""

    def __post_init__(self) -> None:
        if not is_loopback(self.host):
            raise UserError(
                f"host {self.host!r} is not this machine alone: use 127.0.0.1, and a tunnel (ssh -L) from elsewhere"
            )
        if not 0 <= self.port <= 65535:
            raise UserError(f"port {self.port!r} is out of range: use 0 to 65535")
        for name in (
            "max_batch",
            "max_waiting",
            "max_body_bytes",
            "max_new_tokens",
            "max_episodes",
        ):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)!r}: use at least 1")
