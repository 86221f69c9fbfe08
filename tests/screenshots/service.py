"""A private service with the demo content, thrown away afterwards."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.checks import ROOT
from tests.servers.ports import free_port

SECONDS = 300
EMBEDDED = "marketplace.settings.embedded"
# Static files as production serves them: under names of their content, compressed, kept for ever by browsers.
COLLECTED = "marketplace.settings.collect"


@contextmanager
def service(data: Path, console: Console, settings: str = EMBEDDED) -> Iterator[str]:
    """Run the demo in a folder of its own."""
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    env = _environment(data, settings)
    if settings == COLLECTED:
        collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
        subprocess.run(collect, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, check=True)
    command = [sys.executable, "manage.py", "quickstart", "--port", str(port), "--yes"]
    console.print("Preparing the demo …")
    server = subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        _wait_for(base_url, server)
        yield base_url
    finally:
        server.terminate()
        server.wait(timeout=SECONDS)


def scenes(data: Path) -> Any:
    """Make in the running service what the demo does not show; return who can sign in besides."""
    command = [sys.executable, "-m", "tests.screenshots.scenes"]
    return json.loads(subprocess.run(command, cwd=ROOT, env=_environment(data), check=True, stdout=subprocess.PIPE).stdout)


def _environment(data: Path, settings: str = EMBEDDED) -> dict[str, str]:
    return os.environ | {
        "DATA_DIR": str(data),
        "DJANGO_SETTINGS_MODULE": settings,
        "ADMIN_REQUIRES_SECOND_FACTOR": "false",
        "RATE_LIMIT_ANONYMOUS": "100000",
        "RATE_LIMIT_BROWSING": "100000",
    }


def _wait_for(base_url: str, server: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(f"{base_url}/robots.txt", timeout=5).close()  # noqa: S310 - our own service
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise SystemExit("The demo did not come up.")
