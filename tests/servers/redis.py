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
from .process import Process, until_ready

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


class Server:
    """A server that can be killed and started again; it begins with the snapshot in its folder, and makes none unasked."""

    def __init__(self, folder: Path, port: int) -> None:
        program = find_program()
        if program is None:
            raise Unavailable("Redis is not installed")
        words = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder), "--databases", "64"]
        self.address = f"redis://127.0.0.1:{port}"
        self._port, self._log = port, folder / "server.log"
        self._process = Process([program, *words], os.environ, self._log)

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._process.start()
        assert self._process.running is not None
        until_ready(self._process.running, self._answers, self._log)

    def stop(self) -> None:
        """Ask it to end."""
        self._process.stop()

    def kill(self) -> None:
        """Send SIGKILL to it."""
        self._process.kill()

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=30) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(7).startswith(b"+PONG")
        return False
