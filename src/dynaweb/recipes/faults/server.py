"""A web server that does what servers should not: never answers, never ends, hangs up, sends too much, sends in circles."""

import http.server
import importlib.resources
import socket
import struct
import threading
from collections.abc import Callable

from dynaweb.browser.page import LivePage
from dynaweb.browser.site import Standing

BIG_NODES = 200_000
TICK_SEC = 0.2


class _Handler(http.server.BaseHTTPRequestHandler):
    server: "_Server"

    def do_GET(self) -> None:
        """Misbehave as the address says; any other address is the page of faults."""
        path = self.path.partition("?")[0]
        try:
            _DEEDS.get(path, _Handler._page)(self)
        except OSError:
            self.close_connection = True  # the browser hung up

    def _page(self) -> None:
        self._begin("text/html; charset=utf-8", len(self.server.page))
        self.wfile.write(self.server.page)

    def _begin(self, kind: str, length: int | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _loop(self) -> None:
        self.send_response(302)
        self.send_header("Location", self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _hang(self) -> None:
        self.server.stopping.wait()

    def _drop(self) -> None:
        # a reset instead of an orderly end
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _big(self) -> None:
        self._begin("text/html; charset=utf-8", None)
        self.wfile.write(b"<title>Big</title>" + b"<button>b</button>" * (BIG_NODES // 2))
        self.close_connection = True

    def _trickle(self) -> None:
        self._begin("text/html; charset=utf-8", None)
        self._drip(b"<p>more</p>")

    def _half(self) -> None:
        """The page is there, what it shows is not: an image without end."""
        self._begin("text/html; charset=utf-8", None)
        self.wfile.write(b"<title>Half</title><button>Go</button><img src=/hang>")
        self.close_connection = True

    def _file(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Disposition", "attachment; filename=endless.bin")
        self.end_headers()
        self._drip(bytes(65536))

    def _drip(self, piece: bytes) -> None:
        while not self.server.stopping.wait(TICK_SEC):
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


_DEEDS: dict[str, Callable[[_Handler], None]] = {
    "/loop": _Handler._loop,
    "/hang": _Handler._hang,
    "/drop": _Handler._drop,
    "/big": _Handler._big,
    "/trickle": _Handler._trickle,
    "/half": _Handler._half,
    "/file": _Handler._file,
}


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page = importlib.resources.files(__package__).joinpath("hostile.html").read_bytes()
        self.stopping = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up is what this is about."""


class HostileServer:
    """Serves on a free loopback port from a thread, until `close`."""

    def __init__(self) -> None:
        """Start serving."""
        self._server = _Server()
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        """Address without a trailing slash."""
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.2,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving; answers that never end do so now."""
        self._server.stopping.set()
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.server_close()


class HostileSite:
    """Its addresses as tasks: `spin` is the page whose button makes it spin. Nothing to win."""

    def __init__(self, origin: str) -> None:
        """Tasks of this server."""
        self.origins = (origin,)

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        """Open the page."""
        await live.goto(f"{self.origins[0]}/{task}", must_exist=True)

    async def goal(self, live: LivePage, task: str) -> str:
        """There is none to reach."""
        return f"Press Go on {task}."

    async def standing(self, live: LivePage, task: str, *, ends: bool) -> Standing | None:
        """Never over."""
        return Standing(done=False, success=None)
