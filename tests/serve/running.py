"""A service of ours on a free port of loopback, in a thread of this process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from dynaweb.serve.config import ServeConfig
from dynaweb.serve.loopback import listen, make_server


@contextmanager
def running(app: ASGIApp) -> Iterator[str]:
    """The address while it runs."""
    listening = listen(ServeConfig(port=0))
    server = make_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
    assert not thread.is_alive()
