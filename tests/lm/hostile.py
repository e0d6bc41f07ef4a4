"""A server on loopback that misbehaves as told, one act for each request, and counts what it was asked."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Act = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Hostile"
    body: dict[str, object]

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        act = self.server.note(self.body, {k.lower(): v for k, v in self.headers.items()})
        try:
            act(self)
        finally:
            self.server.leave()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Hostile(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, acts: Iterator[Act], port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.acts = acts
        self.lock = threading.Lock()
        self.bodies: list[dict[str, object]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.inside = self.most_inside = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def note(self, body: dict[str, object], headers: dict[str, str]) -> Act:
        with self.lock:
            self.bodies.append(body)
            self.headers.append(headers)
            self.times.append(time.monotonic())
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
            return next(self.acts)

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # clients that go away are what is tested


@contextmanager
def serving(acts: Iterator[Act], port: int = 0) -> Iterator[Hostile]:
    server = Hostile(acts, port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(text: str | None = "yes", **more: object) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return json.dumps({"choices": [{**choice, **more}], "model": "m"}).encode()


def sends(status: int, body: bytes = b"", **headers: str) -> Act:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda h: h.answer(status, body, named)


def well(text: str = "yes") -> Act:
    return sends(200, completion(text))


def reset(h: Handler) -> None:
    """RST before any byte."""
    h.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    h.connection.close()
    h.close_connection = True


def cut_short(h: Handler) -> None:
    """Half of what was promised, then the end."""
    whole = completion("x" * 100)
    h.send_response(200)
    h.send_header("content-length", str(len(whole)))
    h.end_headers()
    h.wfile.write(whole[: len(whole) // 2])
    h.close_connection = True


def hang(h: Handler) -> None:
    """Accepts and says nothing until the other side goes away."""
    h.connection.settimeout(10)
    h.connection.recv(1)
    h.close_connection = True


def drip_headers(h: Handler) -> None:
    drip(h, b"HTTP/1.1 200 OK\r\nx-slow: ")


def drip_chunks(h: Handler) -> None:
    """A chunked body that never ends."""
    drip(h, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n")


def drip(h: Handler, head: bytes, piece: bytes = b"a") -> None:
    h.close_connection = True
    h.wfile.write(head)
    for _ in range(1000):
        h.wfile.write(piece)
        h.wfile.flush()
        time.sleep(0.01)


def endless(h: Handler) -> None:
    """A chunked body as fast as it goes."""
    h.close_connection = True
    h.wfile.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    block = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    for _ in range(10_000):
        h.wfile.write(block)
