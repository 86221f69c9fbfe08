"""A private Redis-protocol server: in memory, on a port of its own."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import Unavailable
from .ports import free_port
from .process import Process

PROGRAMS = ("redis-server", "valkey-server")


def find_program() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def redis() -> Iterator[str]:
    """Run a server and yield its `redis://` address, which names no database."""
    with tempfile.TemporaryDirectory(prefix="marketplace-redis-") as folder, redis_in(Path(folder), free_port()) as address:
        yield address


@contextmanager
def redis_in(folder: Path, port: int) -> Iterator[str]:
    """Run a server that begins with the snapshot in a folder, if there is one, and makes none unasked; yield its address."""
    server = Server(folder, port)
    try:
        server.start()
        yield server.address
    finally:
        server.stop()


class Server(Process):
    """A server that can be killed and started again; it begins with the snapshot in its folder, and makes none unasked."""

    def __init__(self, folder: Path, port: int) -> None:
        program = find_program()
        if program is None:
            raise Unavailable("Redis is not installed")
        words = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder), "--databases", "64"]
        super().__init__([program, *words], os.environ, folder / "server.log")
        self.address, self._port = f"redis://127.0.0.1:{port}", port

    def start(self, address: str = "", headers: dict[str, str] | None = None) -> None:
        """Start it and wait until it answers."""
        super().start()
        self.until_ready(self._answers)

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=30) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(7).startswith(b"+PONG")
        return False
