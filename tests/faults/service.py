"""The whole service in one folder, to be killed and started again; its scene and its state come from `scene`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..flows.server import ROOT, environment, management
from ..servers.migrated import copy_sqlite
from ..servers.ports import free_port
from ..servers.s3 import S3Server
from ..waiting import until_it_answers, wait_for_end

MANY_CALLS = {f"RATE_LIMIT_{name}": "1000000" for name in ("BEARER_APP", "BEARER_USER", "ANONYMOUS")}


class Service:
    """A server process over a database and a store that outlive it.

    Args:
        folder: What it keeps.
        given: Settings beside those that it needs.
        code: The tree that is run.
    """

    def __init__(self, folder: Path, given: Mapping[str, str], code: Path = ROOT) -> None:
        self.folder, self.code = folder, code
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.env = environment(folder, self.base_url, MANY_CALLS | dict(given))
        self.log = folder / "server.log"
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the service's environment."""
        return subprocess.run(
            [sys.executable, *words], cwd=self.code, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def manage(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a management command."""
        return self.run(*management(*words)[1:])

    def ask(self, *words: str) -> Any:
        """Return what the scene's module answers."""
        done = self.run("-m", "tests.faults.scene", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def prepare(self, listings: int) -> Any:
        """Make the scene, on an empty database: a file, unless one is given; return its facts."""
        if "DATABASE_URL" not in self.env:
            copy_sqlite(self.folder / "marketplace.sqlite3")
        return self.ask("prepare", str(listings))

    def start(self) -> None:
        """Serve; return once it answers."""
        command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(self.port), "--workers", "1"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--blocking-threads", "4", "--no-ws", "marketplace.wsgi:application"],
                cwd=self.code,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A group of its own, so that a kill takes the worker too.
                start_new_session=True,
            )
        until_it_answers(self._process, f"{self.base_url}/robots.txt", self.log)

    def pids(self) -> list[int]:
        """Return the server's processes: the one that was started and its children."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text(encoding="ascii")
        return [self._process.pid, *map(int, children.split())]

    def kill(self) -> None:
        """End every process of the server where it stands."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the server in order."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        if how == signal.SIGKILL:
            # One that died by itself must not hide why.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        wait_for_end(process, self.log)


@contextmanager
def service(folder: Path, given: Mapping[str, str] | None = None, *, s3: S3Server | None = None) -> Iterator[Service]:
    """Yield a service that is not prepared and does not run yet; whatever runs in the end is killed."""
    given = dict(given or {})
    if s3 is not None:
        given |= {
            "S3_BUCKET": s3.bucket,
            "S3_ACCESS_KEY_ID": s3.access_key,
            "S3_SECRET_ACCESS_KEY": s3.secret_key,
            "S3_ENDPOINT_URL": s3.endpoint,
        }
    made = Service(folder, given)
    try:
        yield made
    finally:
        made.kill()
