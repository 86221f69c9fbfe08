"""A private Redis-protocol server: in memory, on a port of its own."""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .ports import free_port
from .postgres import Unavailable

START_SECONDS = 300
PROGRAMS = ("redis-server", "valkey-server")


def find_program() -> str | None:
    """Return the server's program, None when there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def redis() -> Iterator[str]:
    """Run a server and yield its `redis://` address, which names no database.

    Raises:
        Unavailable: there is no such server here, or it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="marketplace-redis-") as folder, redis_in(Path(folder), free_port()) as address:
        yield address


@contextmanager
def redis_in(folder: Path, port: int) -> Iterator[str]:
    """Run a server that begins with the snapshot in a folder, if there is one, and makes none unasked; yield its address.

    Raises:
        Unavailable: as above.
    """
    server = Server(folder, port)
    try:
        server.start()
        yield server.address
    finally:
        server.stop()


class Server:
    """A server that can be killed and started again; it begins with the snapshot in its folder, and makes none unasked.

    Args:
        folder: Where snapshots lie.
        port: On loopback.

    Raises:
        Unavailable: there is no such server here.
    """

    def __init__(self, folder: Path, port: int) -> None:
        program = find_program()
        if program is None:
            raise Unavailable("Redis is not installed")
        words = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder), "--databases", "64"]
        self.address = f"redis://127.0.0.1:{port}"
        self._port, self._log, self._command = port, folder / "server.log", [program, *words]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            Unavailable: it does not.
        """
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        _wait(self._process, self._port, self._log)

    def stop(self) -> None:
        """Ask it to end."""
        self._end(subprocess.Popen.terminate)

    def kill(self) -> None:
        """Kill it, without a word."""
        self._end(subprocess.Popen.kill)

    def _end(self, ask: Callable[[subprocess.Popen[bytes]], None]) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        ask(process)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                connection.sendall(b"PING\r\n")
                if connection.recv(7).startswith(b"+PONG"):
                    return
        except OSError:
            time.sleep(0.05)
    raise Unavailable(f"Redis did not start: {log.read_text(errors='replace')[-2000:].strip()}")
