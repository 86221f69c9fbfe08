"""A private Redis-protocol server: in memory, on a port of its own."""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
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
    program = find_program()
    if program is None:
        raise Unavailable("Redis is not installed")
    log = folder / "server.log"
    words = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder), "--databases", "64"]
    with log.open("wb") as output:
        process = subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    try:
        _wait(process, port, log)
        yield f"redis://127.0.0.1:{port}"
    finally:
        process.terminate()
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
