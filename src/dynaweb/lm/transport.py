"""JSON to and from one server: connections that stay open, answers that are never read beyond a bound."""

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2

from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.retry import retry_after_sec


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server sent back."""

    status: int
    body: bytes | None
    """None when it was longer than the bound, or compressed although nobody asked for that."""
    wait_sec: float | None
    """What the server asks to wait before the next try."""


class Transport:
    """One server. Belongs to the event loop that first sends."""

    def __init__(self, config: EndpointConfig, api_key: str) -> None:
        self._most = config.max_reply_bytes
        self._client = open_client(
            loopback=config.loopback,
            connections=config.in_flight,
            connect_sec=config.connect_sec,
            api_key=api_key,
        )

    async def send(self, method: str, address: str, body: Mapping[str, object] | None) -> Answer:
        """Send and read the answer; the caller bounds the time.

        Raises:
            httpx2.RequestError: no connection, or it broke.
        """
        return await exchange(self._client, method, address, body, self._most)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def open_client(
    *, loopback: bool, connections: int, connect_sec: float, api_key: str = ""
) -> httpx2.AsyncClient:
    """Connections to one server, as JSON and uncompressed, without a time limit after connecting.

    Args:
        loopback: the server is on this machine; then proxies of the environment are not used.
        connections: most at once.
        connect_sec: longest wait for one.
        api_key: sent as bearer token; empty sends none.
    """
    headers = {"content-type": "application/json", "accept-encoding": "identity"}
    if api_key:
        headers["authorization"] = f"Bearer {api_key}"
    return httpx2.AsyncClient(
        headers=headers,
        timeout=httpx2.Timeout(None, connect=connect_sec),
        limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
        # a proxy cannot reach what is on this machine, and must not see it
        trust_env=not loopback,
    )


async def exchange(
    client: httpx2.AsyncClient,
    method: str,
    address: str,
    body: Mapping[str, object] | None,
    most: int,
) -> Answer:
    """One request and its answer; the caller bounds the time.

    Args:
        client: from `open_client`.
        method: of HTTP.
        address: absolute.
        body: sent as ASCII JSON; None sends nothing.
        most: longest answer that is read, bytes.

    Raises:
        httpx2.RequestError: no connection, or it broke.
    """
    content = None if body is None else json.dumps(body)
    async with client.stream(method, address, content=content) as response:
        wait_sec = retry_after_sec(response.headers.get("retry-after"))
        whole = response.headers.get("content-encoding", "identity") == "identity"
        data = bytearray()
        async for chunk in response.aiter_raw():
            data += chunk
            if not whole or len(data) > most:
                return Answer(status=response.status_code, body=None, wait_sec=wait_sec)
        return Answer(status=response.status_code, body=bytes(data), wait_sec=wait_sec)


def unknown_host(error: BaseException) -> str:
    """Why the host's name means nothing; empty when that is not what went wrong, or may pass."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            return str(cause.strerror)
        cause = cause.__cause__ or cause.__context__
    return ""
