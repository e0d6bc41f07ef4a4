"""Run a server script of the user's with every socket that it opens on loopback; tell the port on standard output.

Called as a file, with the script's path; ends when its standard input does. Uses the standard library alone.
"""

import json
import os
import runpy
import socket
import sys
import threading
from pathlib import Path
from typing import TextIO

LOOPBACK = "127.0.0.1"


def keep_on_loopback(told: TextIO) -> None:
    """Have every later `bind` mean loopback, and tell each port once it takes calls."""
    bind, listen = socket.socket.bind, socket.socket.listen

    def bind_here(self: socket.socket, address: tuple[str, int]) -> None:
        if self.family is not socket.AF_INET:
            raise OSError(f"only IPv4 sockets on loopback are allowed, not {self.family!r}")
        bind(self, (LOOPBACK, address[1]))

    def listen_and_tell(self: socket.socket, *waiting: int) -> None:
        listen(self, *waiting)
        told.write(json.dumps({"port": self.getsockname()[1]}) + "\n")
        told.flush()

    socket.socket.bind = bind_here  # type: ignore[method-assign, assignment]
    socket.socket.listen = listen_and_tell  # type: ignore[method-assign, assignment]


def end_with_parent() -> None:
    """Leave when nobody holds our standard input any more."""
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    """Run the script as if it had been called with `--port 0`."""
    script = Path(sys.argv[1]).resolve()
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the script says goes into the log
    threading.Thread(target=end_with_parent, daemon=True).start()
    keep_on_loopback(told)
    sys.argv = [str(script), "--port", "0"]
    sys.path.insert(0, str(script.parent))
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()
