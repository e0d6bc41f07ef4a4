"""MiniWoB++ pages from the PyPI package, on a loopback port. GET and HEAD inside the root, nothing else."""

import functools
import http.server
import importlib.util
import logging
import threading
from os import PathLike
from pathlib import Path
from urllib.parse import unquote, urlsplit

from dynaweb.errors import MissingDependencyError

log = logging.getLogger(__name__)


def miniwob_root() -> Path:
    """Folder `html` of the installed `miniwob` package, found without importing it (that needs selenium).

    Raises:
        MissingDependencyError: the package is not installed, or has no pages.
    """
    spec = importlib.util.find_spec("miniwob")
    places = [Path(p) / "html" for p in (spec.submodule_search_locations or ())] if spec else []
    for root in places:
        if (root / "miniwob" / "click-test.html").is_file():
            return root
    raise MissingDependencyError(
        "the MiniWoB++ pages are not installed: run `pip install miniwob==1.1.0`"
        + (f" (looked in {', '.join(map(str, places))})" if places else "")
    )


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def translate_path(self, path: str) -> str:
        """Inside the root, or a name that does not exist; links are followed only within it."""
        root = Path(self.directory).resolve()
        wanted = (root / unquote(urlsplit(path).path).lstrip("/")).resolve()
        return str(wanted if wanted.is_relative_to(root) else root / "-outside-")

    def guess_type(self, path: str | PathLike[str]) -> str:
        """Text is UTF-8; left unsaid, Chromium reads it as Windows-1252."""
        kind = super().guess_type(path)
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    def list_directory(self, path: object) -> None:
        """No listings."""
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Into the log, not onto the terminal."""
        log.debug("pages: " + format, *args)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up is not worth a traceback."""
        log.debug("pages: connection from %r broke", client_address)


class PageServer:
    """Serves one folder on 127.0.0.1 from a thread of this process."""

    def __init__(self, root: Path, port: int = 0) -> None:
        """Start serving.

        Args:
            root: folder to serve.
            port: 0 takes a free one.

        Raises:
            MissingDependencyError: the port is taken.
        """
        handler = functools.partial(_Handler, directory=str(root))
        try:
            self._server = _Server(("127.0.0.1", port), handler)
        except OSError as error:
            raise MissingDependencyError(
                f"cannot serve pages on 127.0.0.1:{port}: {error.strerror or error}; use port 0 for a free one"
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.2,), daemon=True)
        self._thread.start()

    @property
    def origin(self) -> str:
        """Address without a trailing slash: `http://127.0.0.1:40123`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop serving; safe to call twice."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(timeout=5)
        self._server.server_close()
