"""The way out through a running proxy, in plain values: whoever knows them may go it, in this process or in another."""

import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPSConnection
from urllib.parse import urlsplit

from dynaweb.browser.egress.inside.decide import Rules
from dynaweb.errors import MissingDependencyError

PATIENCE_SEC = 10.0
"""For the proxy to say anything at all; it is on this machine."""
ASK_NOBODY = b"GET / HTTP/1.0\r\n\r\n"
"""A request that names no host: the proxy itself answers it, and asks nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """Where a proxy listens, and what it shows in the place of a site's certificate."""

    address: str
    """`host:port` on this machine."""
    spki: str
    """SHA-256 of the key that its certificates have, base64."""
    authority: str
    """PEM of the certificate that signs them."""
    rules: Rules = field(default_factory=Rules)
    """What it lets through."""
    home: str = ""
    """Where it is installed: with the rules, what another machine needs to have one like it."""

    def chromium_args(self, hosts: Mapping[str, str] | None = None) -> list[str]:
        """Flags that leave Chromium this way and no other.

        Args:
            hosts: name -> `address:port` on this machine, reached without the proxy, as in `BrowserPool`.
        """
        named = dict(hosts or {})
        maps = [f"MAP {name}:80 {address}" for name, address in named.items()]
        rules = [*maps, "MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1"]
        return [
            f"--proxy-server=http://{self.address}",
            f"--proxy-bypass-list={';'.join(('<-loopback>', *named))}",
            f"--host-resolver-rules={', '.join(rules)}",
            f"--ignore-certificate-errors-spki-list={self.spki}",
        ]

    def connection(self, url: str, timeout_sec: float) -> HTTPConnection:
        """A connection for one request, which names the whole `url` where that is http.

        Raises:
            ValueError, HTTPException: no such port.
        """
        parts = urlsplit(url)
        if parts.scheme != "https":
            return HTTPConnection(self.address, timeout=timeout_sec)
        trust = ssl.create_default_context(cadata=self.authority)
        tunnel = HTTPSConnection(self.address, timeout=timeout_sec, context=trust)
        tunnel.set_tunnel(parts.hostname or "", parts.port or 443)
        return tunnel

    def answers(self) -> bool:
        """Whether the proxy is there and says something within `PATIENCE_SEC`; blocks for as long."""
        host, _, port = self.address.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), PATIENCE_SEC) as wire:
                wire.sendall(ASK_NOBODY)
                return bool(wire.recv(1))
        except OSError:
            return False

    def require(self) -> None:
        """What was asked for by this way was really asked for.

        Raises:
            MissingDependencyError: the proxy is gone or does not answer.
        """
        if not self.answers():
            raise MissingDependencyError(f"the egress proxy at {self.address} is gone or does not answer, and nothing leaves past it: run the same command again to go on")  # fmt: skip
