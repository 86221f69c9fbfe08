"""The whole service in one folder, which can be killed and started again; `scene` fills and inspects it."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tests import ROOT

from ..flows.server import environment, management
from ..servers.migrated import copy_sqlite
from ..servers.ports import free_port
from ..servers.process import MANY_CALLS, Process, call_in, granian, run
from ..servers.s3 import S3Server, running


class Service:
    """A server process over a database and a store that outlive it."""

    def __init__(self, folder: Path, given: Mapping[str, str], code: Path = ROOT) -> None:
        self.folder, self.code = folder, code
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.env = environment(folder, self.base_url, MANY_CALLS | dict(given))
        self.log = folder / "server.log"
        self._server = Process(granian(self.port, "--workers", "1", "--blocking-threads", "4"), self.env, self.log, code)

    def manage(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a management command."""
        return run(*management(*words), env=self.env, cwd=self.code)

    def ask(self, function: str, *words: str) -> Any:
        """Return what a function of the scene answers."""
        return call_in(self.env, f"tests.faults.scene.{function}", *words, code=self.code)

    def prepare(self, listings: int) -> Any:
        """Make the scene, on an empty database: a file, unless one is given; return its facts."""
        if "DATABASE_URL" not in self.env:
            copy_sqlite(self.folder / "marketplace.sqlite3")
        return self.ask("prepare", str(listings))

    def start(self) -> None:
        """Serve; return once it answers."""
        self._server.start(f"{self.base_url}/robots.txt")

    def pids(self) -> list[int]:
        """Return the server's processes: the one that was started and its children."""
        assert self._server.running is not None
        pid = self._server.running.pid
        return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split())]

    def kill(self) -> None:
        """End every process of the server where it stands."""
        self._server.kill()

    def stop(self) -> None:
        """End the server in order."""
        self._server.stop()


@contextmanager
def service(folder: Path, given: Mapping[str, str] | None = None, *, s3: S3Server | None = None) -> Iterator[Service]:
    """Yield a service that is not prepared and does not run yet; whatever runs in the end is killed."""
    made = Service(folder, {**(given or {}), **(s3.settings() if s3 else {})})
    try:
        yield made
    finally:
        made.kill()


@contextmanager
def serving(folder: Path, store: str = "local") -> Iterator[tuple[Service, dict[str, Any]]]:
    """Yield a running service in an empty folder, with one listing, and the facts of its scene; files are on disk or, with `s3`, on such a server."""
    data, files = folder / "data", folder / "files"
    data.mkdir(parents=True)
    files.mkdir()
    with running(files) if store == "s3" else nullcontext() as server, service(data, s3=server) as made:
        facts = made.prepare(1)
        made.start()
        yield made, facts
