"""A program in its own process."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests import ROOT

from ..waiting import PATIENCE_SECONDS, end_of, until_it_answers, wait_for_end
from . import Unavailable

# Some fill a whole shop, on a busy machine.
RUN_SECONDS = 3 * PATIENCE_SECONDS
# Settings for one caller who sends many requests in a short time.
MANY_CALLS = {f"RATE_LIMIT_{name}": "1000000" for name in ("API_KEY", "BEARER_APP", "BEARER_USER", "ANONYMOUS", "BROWSING")}
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


def granian(port: int, *options: str, application: str = "marketplace.wsgi:application") -> list[str]:
    return [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(port), "--no-ws", *options, application]


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
    """A program that can be ended and started again; `options` are those of `Popen`."""

    def __init__(self, command: Sequence[str | Path], env: Mapping[str, str], log: Path, code: Path = ROOT, **options: Any) -> None:
        self.command, self.env, self.log, self.code, self.options = command, env, log, code, options
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
                **self.options,
            )
        if address:
            until_it_answers(self.running, address, self.log, headers)

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended."""
        return self.running is not None and self.running.poll() is None

    def until_ready(self, ready: Callable[[], bool]) -> None:
        """Wait for what was started; one that does not become ready cannot be had here."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not ready():
            if not self.runs or time.monotonic() > end:
                raise Unavailable(f"{self.command!r} did not start{end_of(self.log)}")
            time.sleep(0.05)

    @contextmanager
    def serving(self, address: str) -> Iterator[None]:
        """Run it inside the block, which begins once it answers at an address."""
        try:
            self.start(address)
            yield
        finally:
            self.stop()

    def kill(self) -> None:
        """Send SIGKILL to it and to what it started."""
        process, self.running = self.running, None
        if process is not None:
            # One that died by itself must not hide why.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            wait_for_end(process, self.log)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to end, and wait for that."""
        process, self.running = self.running, None
        if process is not None:
            process.send_signal(number)
            wait_for_end(process, self.log)


def listens(port: int) -> bool:
    """Tell whether something takes connections at a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
