"""A private PostgreSQL cluster in a temporary folder: no system service, nothing left behind."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from . import Unavailable
from .ports import free_port
from .process import Process

# Durability is worth nothing for a cluster that is thrown away.
FAST = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "max_connections=200",
    "shared_buffers=128MB",
    "log_min_messages=fatal",
)


def find_programs() -> Path | None:
    """Return the folder that holds `initdb` and `postgres`, the newest when there are several."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    # Debian keeps them off the PATH, one folder for each version.
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int("0" + folder.parent.name), reverse=True)
    return next((folder for folder in folders if (folder / "postgres").exists() and (folder / "initdb").exists()), None)


class Cluster:
    """A cluster with a folder of its own, whose server can be killed and started again.

    Args:
        *settings: More settings, as `name=value`; they win over those that tests run with.
    """

    def __init__(self, *settings: str) -> None:
        programs = find_programs()
        if programs is None:
            raise Unavailable("PostgreSQL is not installed")
        self._programs, self._account = programs, _account()
        self._folder = folder = Path(tempfile.mkdtemp(prefix="marketplace-postgres-"))
        self._password, port = secrets.token_hex(16), str(free_port())
        self._pid_file = folder / "data" / "postmaster.pid"
        options = [word for setting in (*FAST, *settings, f"unix_socket_directories={folder}") for word in ("-c", setting)]
        command: list[str | Path] = [programs / "postgres", "-D", folder / "data", "-h", "127.0.0.1", "-p", port, *options]
        self._process = Process(command, os.environ, folder / "server.log", folder, **self._account)
        self.address = f"postgres://postgres:{self._password}@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        if not (self._folder / "data").exists():
            _initialise(self._programs, self._folder, self._password, self._account)
        self._process.start()
        self._process.until_ready(self._is_ready)

    def _is_ready(self) -> bool:
        # The last line of its pid file says so.
        return self._pid_file.exists() and self._pid_file.read_text(encoding="utf-8").rstrip().endswith("ready")

    def kill(self) -> None:
        """Kill every process of the server at once, as a power cut would."""
        process = self._process.running
        if process is None:
            return
        listed = subprocess.run(["pgrep", "-P", str(process.pid)], stdout=subprocess.PIPE, text=True, check=False)  # noqa: S607 - procps
        for pid in (process.pid, *map(int, listed.stdout.split())):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        # It says that the server is ready.
        self._pid_file.unlink(missing_ok=True)

    def remove(self) -> None:
        """End the server and leave nothing behind."""
        try:
            # The fast shutdown: it ends connections that a test left open.
            self._process.stop(signal.SIGINT)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def postgres(*settings: str) -> Iterator[str]:
    """Run a cluster and yield its `postgres://` address."""
    cluster = Cluster(*settings)
    try:
        cluster.start()
        yield cluster.address
    finally:
        cluster.remove()


def _account() -> dict[str, Any]:
    """Return the account to run as, as options of `Popen`: PostgreSQL refuses root."""
    known = {entry.pw_name: entry for entry in pwd.getpwall()} if os.geteuid() == 0 else {}
    found = known.get("postgres") or known.get("nobody")
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []} if found else {}


def _initialise(programs: Path, folder: Path, password: str, account: dict[str, Any]) -> None:
    password_file = folder / "password"
    password_file.touch(mode=0o600)
    password_file.write_text(password, encoding="ascii")
    if account:
        for path in (folder, password_file):
            shutil.chown(path, account["user"], account["group"])
    command: tuple[str | Path, ...] = (
        *(programs / "initdb", "-D", folder / "data", "-U", "postgres", "--encoding=UTF8", "--locale=C.UTF-8"),
        *("--auth=scram-sha-256", f"--pwfile={password_file}", "--no-sync"),
    )
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd=folder, **account)
    if result.returncode != 0:
        raise Unavailable(f"{command[0]} failed: {result.stderr.strip() or result.stdout.strip()}")
