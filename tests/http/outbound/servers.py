"""A server on this machine that answers with given bytes, in plain text or over TLS."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.waiting import PATIENCE_SECONDS

Talk = Callable[[socket.socket, threading.Event], None]


@dataclass
class Server:
    """A running server: what it was sent, each up to the end of the headers, and the names that TLS clients asked for."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


def says(answer: bytes) -> Talk:
    """Return a talk that says this and hangs up."""

    def talk(line: socket.socket, ended: threading.Event) -> None:
        line.sendall(answer)

    return talk


def trickles(beginning: bytes, drop: bytes) -> Talk:
    """Return a talk that says this and goes on, a drop at a time, until the other side hangs up."""

    def talk(line: socket.socket, ended: threading.Event) -> None:
        line.sendall(beginning)
        end = time.monotonic() + PATIENCE_SECONDS
        while not ended.wait(0.02) and time.monotonic() < end:
            line.sendall(drop)

    return talk


@contextmanager
def serving(talk: Talk, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(listener.getsockname()[1])
        if tls is not None:
            tls.sni_callback = lambda *asked: server.names.append(asked[1])

        def run() -> None:
            while not server.ended.is_set():
                try:
                    line, _ = listener.accept()
                    with line if tls is None else tls.wrap_socket(line, server_side=True) as spoken:
                        if head := _head(spoken):
                            server.requests.append(head)
                            talk(spoken, server.ended)
                except OSError:
                    continue

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            with socket.create_connection(("127.0.0.1", server.port)):
                pass
            thread.join()


def _head(line: socket.socket) -> bytes:
    line.settimeout(PATIENCE_SECONDS)
    received = b""
    while b"\r\n\r\n" not in received:
        more = line.recv(65536)
        if not more:
            break
        received += more
    return received
