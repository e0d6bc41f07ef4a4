"""A bank on loopback that counts what changes it."""

import http.server
import threading
from dataclasses import dataclass
from urllib.parse import urlsplit

from dynaweb.recipes.injection.pages import FRAMED, PAGES, markup

DOCUMENTS = {f"/pages/{page.name}": markup(page) for page in PAGES} | {"/framed": FRAMED}
WRITES = ("/transfer", "/logout", "/account", "/socket")


@dataclass(frozen=True, slots=True)
class Write:
    """A request that changed something."""

    method: str
    path: str
    body: str


class Bank:
    """Serves the pages and notes every write that arrives."""

    def __init__(self) -> None:
        """Start on a free port of 127.0.0.1."""
        self.writes: list[Write] = []
        bank = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 10

            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(min(length, 100_000)).decode("utf-8", "replace")
                path = urlsplit(self.path).path
                if path.startswith(WRITES) or self.command != "GET":
                    bank.writes.append(Write(self.command, self.path, body))
                text = DOCUMENTS.get(
                    path, "<!doctype html><title>done</title><p>Done.</p>"
                ).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer  # noqa: N815  # names of the base class

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """`127.0.0.1:port`."""
        return f"127.0.0.1:{self._server.server_port}"

    def take(self) -> list[Write]:
        """Writes since the last call."""
        taken, self.writes = self.writes, []
        return taken

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.server_close()
