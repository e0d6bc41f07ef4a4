"""mitmproxy's addon: refuse what the rules do not name, connect to the address that was looked at, tell about it.

Rules come as the first line of standard input, permissions for single requests as later lines; when it
ends, so does the proxy. What happened goes to standard output, one JSON object a line.
"""

import asyncio
import base64
import hashlib
import json
import os
import socket
import sys
import threading
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from decide import (  # type: ignore[import-not-found]  # mitmproxy adds the script's folder
    OUR_NAME,
    PROXY_STATUS,
    SAFE_METHODS,
    Rules,
    choose_address,
    may_write,
    why_not_name,
)
from mitmproxy import ctx, http

if TYPE_CHECKING:
    from mitmproxy.connection import Client
    from mitmproxy.http import HTTPFlow
    from mitmproxy.proxy.server_hooks import ServerConnectionHookData

Permit = tuple[str, str, str]


def tell(**what: object) -> None:
    """One line to the parent."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def look_up(host: str, port: int) -> list[str]:
    """Addresses of a host, by the system's own resolver; many do not know that `x.localhost` is this machine (RFC 6761, 6.3)."""
    host = "localhost" if host.endswith(".localhost") else host
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(row[4][0]) for row in found))


class Allow:
    """The hooks; all of them refuse what they do not know."""

    def __init__(self) -> None:
        given = json.loads(sys.stdin.readline())
        self.rules = Rules(
            tuple(given["hosts"]), tuple(given["private"]), bool(given["read_only"]), tuple(given["writable"])
        )  # fmt: skip
        self.permits: list[Permit] = []
        self.chosen: dict[tuple[str, str, int], str] = {}
        """Client connection, chosen address and port to the name it stands for: mitmproxy forgets the name."""

    def running(self) -> None:
        """The port is open."""
        addresses = ctx.master.addons.get("proxyserver").listen_addrs()
        if not addresses:
            return
        key = ctx.master.addons.get("tlsconfig").certstore.default_privatekey.public_key()
        der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        spki = base64.b64encode(hashlib.sha256(der).digest()).decode()
        threading.Thread(target=self._listen, daemon=True).start()
        tell(ready=addresses[0][1], spki=spki)

    def _listen(self) -> None:
        for line in sys.stdin:
            method, url, digest = json.loads(line)["permit"]
            self.permits.append((method, url, digest))
            tell(permitted=url)
        os._exit(0)

    def http_connect(self, flow: "HTTPFlow") -> None:
        """A tunnel is asked for: TLS, or a WebSocket."""
        self._check_name(flow)

    def requestheaders(self, flow: "HTTPFlow") -> None:
        """Before a body is read: name and method."""
        if self._check_name(flow) or not self._changes(flow):
            return
        if not any(p[:2] == _key(flow) for p in self.permits):
            self._refuse(flow, "may change something, and nobody has allowed it")

    def request(self, flow: "HTTPFlow") -> None:
        """With its body: what was permitted must be what is sent."""
        if flow.response is not None or not self._changes(flow):
            return
        digest = hashlib.sha256(flow.request.raw_content or b"").hexdigest()
        many = flow.request.headers.get("content-type", "").startswith("multipart/")
        for permit in self.permits:
            if permit[:2] == _key(flow) and (many or permit[2] in ("", digest)):
                self.permits.remove(permit)
                return
        self._refuse(flow, "is not what was allowed")

    def error(self, flow: "HTTPFlow") -> None:
        """A server that gives no answer looks to the browser as it would without a proxy: no page of ours in its place."""
        if flow.killable:
            flow.kill()

    def _changes(self, flow: "HTTPFlow") -> bool:
        if flow.request.method in SAFE_METHODS and "upgrade" not in flow.request.headers:
            return False
        return not may_write(self.rules, *self._asked_for(flow))

    def _asked_for(self, flow: "HTTPFlow") -> tuple[str, int]:
        host, port = flow.request.host, flow.request.port
        return self.chosen.get((flow.client_conn.id, host, port), host), port

    def _check_name(self, flow: "HTTPFlow") -> bool:
        name, port = self._asked_for(flow)
        why: str | None = why_not_name(self.rules, name, port)
        if why is not None:
            self._refuse(flow, why)
        return why is not None

    def _refuse(self, flow: "HTTPFlow", why: str) -> None:
        name, port = self._asked_for(flow)
        tell(refused=f"{name}:{port}", method=flow.request.method, why=why)
        headers = {
            "content-type": "text/plain",
            PROXY_STATUS: f"{OUR_NAME}; error=http_request_denied",
        }
        flow.response = http.Response.make(403, b"refused by the egress proxy", headers)

    async def server_connect(self, data: "ServerConnectionHookData") -> None:
        """Before the socket is made: the address is looked up once, and that one is used."""
        assert data.server.address is not None
        host, port = data.server.address[0], data.server.address[1]
        host = self.chosen.get((data.client.id, host, port), host)
        address, why = await asyncio.to_thread(choose_address, self.rules, host, port, look_up)
        if why:
            tell(refused=f"{host}:{port}", method="", why=why)
            data.server.error = why
        else:
            self.chosen[data.client.id, address, port] = host
            data.server.address = (address, port)

    def client_disconnected(self, client: "Client") -> None:
        """What was chosen for it is of no use any more."""
        self.chosen = {key: name for key, name in self.chosen.items() if key[0] != client.id}


def _key(flow: "HTTPFlow") -> tuple[str, str]:
    return flow.request.method, flow.request.pretty_url.partition("#")[0]


addons = [Allow()]
