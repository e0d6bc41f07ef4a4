"""A server that only this machine can reach, and that no page in a browser of this machine can steer.

A page may ask a browser to post to 127.0.0.1, or give its own name that address; so requests that name another
host, or come from another origin, are refused.
"""

import json
import logging
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

import uvicorn
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from dynaweb.errors import MissingDependencyError
from dynaweb.lm.config import is_loopback
from dynaweb.serve.config import ServeConfig
from dynaweb.serve.problems import ProblemError, told

GRACE_SEC = 5
"""For replies that are being written when the server is told to stop."""


class LoopbackOnly:
    """Refuses what does not come from this machine's own programs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or refuse."""
        if scope["type"] == "http":
            problem = _foreign(Headers(scope=scope))
            if problem is not None:
                await told(problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _foreign(headers: Headers) -> ProblemError | None:
    for name, text in (("host", f"//{headers.get('host', '')}"), ("origin", headers.get("origin"))):
        if text is None:
            continue
        try:
            host = urlsplit(text).hostname or ""
        except ValueError:
            host = ""
        if not is_loopback(host):
            return ProblemError(403, f"{name} {text.lstrip('/')[:80]!r} is not this machine")
    return None


async def read_json_body(request: Request, most: int) -> object:
    """The body of a request.

    Args:
        request: not read yet.
        most: longest body, bytes.

    Raises:
        ProblemError: too long, or no JSON.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise ProblemError(413, f"the request is longer than {most} bytes")
    try:
        body: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ProblemError(400, f"the request is not JSON: {str(error)[:120]}") from error
    return body


def run_server(app: ASGIApp, config: ServeConfig, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or a signal to terminate; what is being answered then has `GRACE_SEC` to end.

    Args:
        app: behind `LoopbackOnly`.
        config: where to listen.
        ready: told the server's address once it listens.

    Raises:
        MissingDependencyError: the port is taken.
    """
    listening = listen(config)
    port = listening.getsockname()[1]
    host = f"[{config.host}]" if ":" in config.host else config.host
    ready(f"http://{host}:{port}")
    try:
        make_server(app).run(sockets=[listening])
    except KeyboardInterrupt:
        # uvicorn has stopped in order, and raises the signal once more
        logging.getLogger(__name__).info("stopped")
    finally:
        listening.close()


def make_server(app: ASGIApp) -> uvicorn.Server:
    """A server for sockets that listen already."""
    how = uvicorn.Config(
        LoopbackOnly(app),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SEC,
    )
    return uvicorn.Server(how)


def listen(config: ServeConfig) -> socket.socket:
    """A socket at the address; what connects waits until it is served.

    Raises:
        MissingDependencyError: the port is taken, or the address is none.
    """
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((config.host.strip("[]"), config.port))
        listening.listen(512)
    except OSError as error:
        listening.close()
        raise MissingDependencyError(
            f"cannot listen at {config.host}:{config.port}: {error.strerror or error}; use another --port (0 takes a free one)"
        ) from error
    return listening
