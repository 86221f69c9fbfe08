"""Granian with one worker, for the yardstick and for the service, on ports of their own."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.servers.ports import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 60
THREADS = 2
YARDSTICK = "benchmarks.catalog.bare:application"
SERVICE = "marketplace.wsgi:application"


def environment(folder: Path, **given: str) -> dict[str, str]:
    """Return the service's environment: the embedded settings, and limits that a load generator does not reach."""
    return dict(os.environ) | {
        "DJANGO_SETTINGS_MODULE": "marketplace.settings.embedded",
        "DATA_DIR": str(folder),
        "RATE_LIMIT_ANONYMOUS": "1000000000",
        "LOG_LEVEL": "WARNING",
        **given,
    }


@contextmanager
def serving(application: str, env: Mapping[str, str], path: str) -> Iterator[str]:
    """Serve until the block ends; yield the address once the path answers."""
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
        yield address
    finally:
        process.terminate()
        process.wait(20)


def manage(env: Mapping[str, str], *words: str) -> None:
    """Run a management command; its output is the caller's."""
    subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=dict(env), stdin=subprocess.DEVNULL, check=True)


def _wait(process: subprocess.Popen[bytes], address: str) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):  # noqa: S310 - our own server
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise SystemExit("The server does not start.")
