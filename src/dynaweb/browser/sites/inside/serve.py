"""One instance of a site on a socket that the parent has opened, until it is told to stop.

Standard input is a life line. Its first line is the configuration (`Given`); after that, end of input means that
the parent is gone and this process goes too, unless a line `stay` came before.
"""

import hmac
import io
import json
import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import ServerHandler, WSGIRequestHandler, WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from dynaweb.browser.sites.inside.clock import Clock
from dynaweb.browser.sites.inside.gate import Gate

CONTROL = "/-/dynaweb/"
"""Addresses of ours; without the instance's token they are not there."""
ROBOTS = "/robots.txt"
CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the parent says."""

    site: str
    snapshot: str
    """Folder of the seeded data; never written."""
    data: str
    """This instance's own copy; made anew at the start and at every reset."""
    token: str
    socket: int
    """File descriptor of a listening socket."""
    robots: str
    """Text of robots.txt."""


@dataclass(frozen=True, slots=True)
class Application:
    """A site, opened."""

    wsgi: WSGIApplication
    forget: Callable[[], None]
    """Close what is open and drop what is cached: the data are about to be exchanged."""


def open_application(site: str, data: Path) -> Application:
    """Load the site's own program. Each environment has only the packages of its own site."""
    if site == "shop":
        from dynaweb.browser.sites.inside.shop import app as shop

        return Application(shop.open_app(data), shop.forget)
    if site == "tracker":
        from dynaweb.browser.sites.inside.tracker import app as tracker

        return Application(tracker.open_app(data), tracker.forget)
    if site == "forum":
        from dynaweb.browser.sites.inside.forum import app as forum

        return Application(forum.open_app(data), forum.forget)
    raise SystemExit(f"no site {site!r}")


def restore(snapshot: Path, data: Path) -> None:
    """Put a fresh copy of the snapshot in the place of the data."""
    fresh, old = data.with_name("data.new"), data.with_name("data.old")
    for left in (fresh, old):
        shutil.rmtree(left, ignore_errors=True)
    shutil.copytree(snapshot, fresh)
    if data.exists():
        data.rename(old)
    fresh.rename(data)
    shutil.rmtree(old, ignore_errors=True)


class Instance:
    """The site, its data and its time, behind one door."""

    def __init__(self, given: Given) -> None:
        """Copy the data, open the site."""
        self._given = given
        self._snapshot, self._data = Path(given.snapshot), Path(given.data)
        restore(self._snapshot, self._data)
        self._clock = Clock()
        self._gate = Gate()
        self._application = open_application(given.site, self._data)

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """A WSGI application around the site's own."""
        path = str(environ.get("PATH_INFO", ""))
        if path.startswith(CONTROL) and self._is_parent(environ):
            return self._control(path.removeprefix(CONTROL), start)
        if path == ROBOTS:
            return _answer(start, "200 OK", "text/plain; charset=utf-8", self._given.robots)
        with self._gate.shared():
            if environ["REQUEST_METHOD"] in CHANGING:
                self._clock.move()
            return self._read_out(environ, start)

    def _read_out(self, environ: WSGIEnvironment, start: StartResponse) -> list[bytes]:
        """The whole answer, so that no reset falls into the middle of one."""
        written = io.BytesIO()

        def begin(*head: object) -> Callable[[bytes], object]:
            start(*head)  # type: ignore[arg-type]  # handed on as it came
            return written.write

        parts = self._application.wsgi(environ, begin)
        try:
            for part in parts:
                written.write(part)
        finally:
            close = getattr(parts, "close", None)
            if close is not None:
                close()
        return [written.getvalue()]

    def _is_parent(self, environ: WSGIEnvironment) -> bool:
        said = str(environ.get("HTTP_X_DYNAWEB_TOKEN", ""))
        return hmac.compare_digest(said.encode(), self._given.token.encode())

    def _control(self, verb: str, start: StartResponse) -> Iterable[bytes]:
        begun = time.perf_counter()
        if verb == "reset":
            with self._gate.alone():
                self._application.forget()
                restore(self._snapshot, self._data)
                self._clock.rewind()
        said = {"site": self._given.site, "pid": os.getpid(), "sec": time.perf_counter() - begun}
        return _answer(start, "200 OK", "application/json", json.dumps(said))


def _answer(start: StartResponse, status: str, kind: str, text: str) -> list[bytes]:
    body = text.encode()
    start(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


class _Handler(WSGIRequestHandler):
    def address_string(self) -> str:
        """No name look-ups."""
        return str(self.client_address[0])

    def log_message(self, format: str, *args: object) -> None:
        """One line a request; the machine's time would be the site's, so none is written."""
        print(format % args, flush=True)

    def get_environ(self) -> WSGIEnvironment:
        """The address that the browser asked for, so that links carry it whatever the port is."""
        environ = super().get_environ()
        name, _, port = self.headers.get("Host", "127.0.0.1").partition(":")
        environ.update(SERVER_NAME=name, SERVER_PORT=port or "80")
        return environ


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up is not worth a traceback."""
        print(f"connection from {client_address!r} broke: {sys.exc_info()[1]!r}", flush=True)


def make_server(listening: socket.socket, instance: WSGIApplication) -> WSGIServer:
    """A server of one thread a request on a socket that listens already."""
    server = _Server(listening.getsockname(), _Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.server_name, server.server_port = listening.getsockname()[:2]
    server.setup_environ()
    server.base_environ["wsgi.multithread"] = True
    server.set_app(instance)
    return server


def watch_parent(lines: Iterable[str], stop: Callable[[], None]) -> None:
    """End when the parent does, unless it has said that we stay."""
    for line in lines:
        if line.strip() == "stay":
            return
    stop()


def main() -> None:
    """Serve until SIGTERM, or until the parent is gone."""
    given = Given(**json.loads(sys.stdin.readline()))
    ServerHandler.server_software = "dynaweb-site"

    def stop() -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    threading.Thread(target=watch_parent, args=(sys.stdin, stop), daemon=True).start()
    listening = socket.socket(fileno=given.socket)
    make_server(listening, Instance(given)).serve_forever(poll_interval=0.2)


if __name__ == "__main__":
    main()
