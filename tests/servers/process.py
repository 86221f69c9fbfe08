"""A program in its own process."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests import ROOT

from ..waiting import PATIENCE_SECONDS, until_it_answers, wait_for_end
from . import Unavailable

# Some fill a whole shop, on a busy machine.
RUN_SECONDS = 3 * PATIENCE_SECONDS
# Django must be set up before what uses it is imported.
_CALL = """
import json, sys, django
django.setup()
from django.utils.module_loading import import_string
print(json.dumps(import_string(sys.argv[1])(*sys.argv[2:])))
"""


def bare_environment() -> dict[str, str]:
    """Return what every program needs of our environment, without any setting."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "VIRTUAL_ENV") if name in os.environ}


def granian(port: int, *options: str) -> list[str]:
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(port), "--no-ws"]
    return [*command, *options, "marketplace.wsgi:application"]


def run(*command: str | Path, env: Mapping[str, str], cwd: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end; it is told nothing, and what it says is kept."""
    return subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_SECONDS, check=False
    )


def call_in(env: Mapping[str, str], function: str, *words: str, code: Path = ROOT) -> Any:
    """Call a function, by its dotted path, in the environment of a service; return what it returns, which must fit JSON."""
    done = run(sys.executable, "-c", _CALL, function, *words, env=env, cwd=code)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


class Process:
    """A program that can be ended and started again."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], log: Path, code: Path = ROOT) -> None:
        self.command, self.env, self.log, self.code = command, env, log, code
        self.running: subprocess.Popen[bytes] | None = None

    def start(self, address: str = "", headers: dict[str, str] | None = None) -> None:
        """Start it, and wait until it answers at an address, if one is given."""
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(
                self.command,
                cwd=self.code,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A group of its own, so that a kill takes its children too.
                start_new_session=True,
            )
        if address:
            until_it_answers(self.running, address, self.log, headers)

    def kill(self) -> None:
        """Send SIGKILL to it and to what it started."""
        process, self.running = self.running, None
        if process is not None:
            # One that died by itself must not hide why.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            wait_for_end(process, self.log)

    def stop(self) -> None:
        """Ask it to end, and wait for that."""
        process, self.running = self.running, None
        if process is not None:
            process.terminate()
            wait_for_end(process, self.log)


def until_ready(process: "subprocess.Popen[bytes]", ready: Callable[[], bool], log: Path) -> None:
    """Wait until a server is ready."""
    end = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < end:
        if ready():
            return
        time.sleep(0.05)
    raise Unavailable(f"{process.args!r} did not start: {log.read_text(encoding='utf-8', errors='replace')[-2000:].strip()}")


def listens(port: int) -> bool:
    """Tell whether something takes connections at a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
