"""Granian with one worker, for the yardstick and for the service, on ports of their own."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.migrated import copy_sqlite, fill_postgres
from tests.servers.ports import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 180
THREADS = 2
YARDSTICK = "benchmarks.catalog.bare:application"
SERVICE = "marketplace.wsgi:application"


def environment(folder: Path, **given: str) -> dict[str, str]:
    """Return the service's environment: the embedded settings, without background work, with rate limits that a load generator does not reach."""
    return dict(os.environ) | {
        "DJANGO_SETTINGS_MODULE": "marketplace.settings.embedded",
        "DATA_DIR": str(folder),
        "RATE_LIMIT_ANONYMOUS": "1000000000",
        "LOG_LEVEL": "WARNING",
        "WORKER_IN_SERVER": "false",
        **given,
    }


@dataclass(frozen=True)
class Server:
    """A running server."""

    address: str
    pid: int

    def cpu(self) -> float:
        """Return the seconds of processor time that its processes have used, on which other load of the machine has the least influence."""
        times = {int(path.name): _times(path) for path in Path("/proc").iterdir() if path.name.isdecimal()}
        family = {self.pid}
        for _ in range(3):
            family |= {pid for pid, (parent, _) in times.items() if parent in family}
        return sum(times[pid][1] for pid in family if pid in times)


def _times(process: Path) -> tuple[int, float]:
    """Return a process's parent and its processor time."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, 0.0
    return int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(application: str, env: Mapping[str, str], path: str) -> Iterator[Server]:
    """Run the server until the block ends; yield it once it responds at this path."""
    port = free_port()
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(port), "--workers", "1"]
    command += [
        "--blocking-threads",
        str(THREADS),
        "--blocking-threads-idle-timeout",
        "600",
        "--no-ws",
        "--log-level",
        "error",
        application,
    ]
    process = subprocess.Popen(command, cwd=ROOT, env=dict(env), stdin=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(process, address + path)
        yield Server(address, process.pid)
    finally:
        process.terminate()
        process.wait(20)


def make_tables(env: Mapping[str, str]) -> None:
    """Migrate the empty database that the environment names."""
    if address := env.get("DATABASE_URL"):
        fill_postgres(address)
    else:
        copy_sqlite(Path(env["DATA_DIR"]) / "marketplace.sqlite3")


def manage(env: Mapping[str, str], *words: str) -> None:
    """Run a management command, which prints to our standard output."""
    subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=dict(env), stdin=subprocess.DEVNULL, check=True)


def inside(env: Mapping[str, str], module: str, *words: str) -> str:
    """Call the `main` of a module in the service's environment; return what it prints."""
    command = [sys.executable, "-m", "benchmarks.inside", module, *words]
    return subprocess.run(command, cwd=ROOT, env=dict(env), stdin=subprocess.DEVNULL, check=True, stdout=subprocess.PIPE, text=True).stdout


def seed(env: Mapping[str, str], listings: int, *words: str) -> None:
    """Fill the service's database with made-up listings."""
    inside(env, "benchmarks.seeding.seed", "--listings", str(listings), *words)


def _wait(process: subprocess.Popen[bytes], address: str) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=30):  # noqa: S310 - our own server
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("The server did not start.")
