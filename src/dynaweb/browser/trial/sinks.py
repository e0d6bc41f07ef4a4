"""The outside, played by sockets of this machine: whatever arrives there got out. TCP is counted when it connects, UDP by the datagram."""

import socket
import threading
from contextlib import suppress

ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nAccess-Control-Allow-Origin: *\r\n"
    b"Content-Length: 2\r\nConnection: close\r\n\r\nok"
)


class Sink:
    """One address with a TCP and a UDP port of the same number."""

    def __init__(self, host: str) -> None:
        """Listen.

        Args:
            host: an address of this machine.
        """
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._tcp = socket.socket(family, socket.SOCK_STREAM)
        self._tcp.bind((host, 0))
        self._tcp.listen(128)
        self.port: int = self._tcp.getsockname()[1]
        self._udp = socket.socket(family, socket.SOCK_DGRAM)
        self._udp.bind((host, self.port))
        self.host = f"[{host}]" if ":" in host else host
        self.heard: list[str] = []
        """One entry for each connection or datagram: its first line, as far as one came."""
        for work in (self._accept, self._receive):
            threading.Thread(target=work, daemon=True).start()

    @property
    def place(self) -> str:
        """`host:port`, as addresses have it."""
        return f"{self.host}:{self.port}"

    def take(self) -> list[str]:
        """What was heard since the last call."""
        taken, self.heard = self.heard, []
        return taken

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._tcp.accept()
            except OSError:
                return  # closed
            self.heard.append("tcp")  # the handshake alone is a message
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(2)
            try:
                line = connection.recv(4096).partition(b"\r\n")[0]
                self.heard.append(line.decode("latin-1")[:200])
                connection.sendall(ANSWER)
            except OSError:
                return  # it said nothing, or has gone

    def _receive(self) -> None:
        while True:
            try:
                data, _ = self._udp.recvfrom(4096)
            except OSError:
                return  # closed
            self.heard.append(f"udp, {len(data)} bytes")

    def close(self) -> None:
        """Stop listening."""
        for end in (self._tcp, self._udp):
            with suppress(OSError):  # a listener that nobody connected to has nothing to shut down
                end.shutdown(socket.SHUT_RDWR)
            end.close()
