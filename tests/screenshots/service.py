"""A private service with the demo content, which is deleted afterwards."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from tests import ROOT
from tests.servers.migrated import copy_demo
from tests.servers.ports import free_port
from tests.servers.process import MANY_CALLS, Process

EMBEDDED = "marketplace.settings.embedded"
# Static files as production serves them: under names of their content, compressed, kept for ever by browsers.
COLLECTED = "marketplace.settings.collect"


@contextmanager
def service(data: Path, console: Console, settings: str = EMBEDDED) -> Iterator[str]:
    """Run the demo in a folder of its own."""
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    env = os.environ | {
        "DATA_DIR": str(data),
        "DJANGO_SETTINGS_MODULE": settings,
        "ADMIN_REQUIRES_SECOND_FACTOR": "false",
        **MANY_CALLS,
    }
    if settings == COLLECTED:
        collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
        subprocess.run(collect, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, check=True)
    console.print("Preparing the demo …")
    copy_demo(data)
    server = Process([sys.executable, "manage.py", "quickstart", "--port", str(port), "--yes"], env, data / "server.log")
    with server.serving(f"{base_url}/robots.txt"):
        yield base_url
