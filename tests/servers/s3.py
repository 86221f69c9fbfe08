"""A real S3 server for tests: OpenStack Swift with its s3api, from PyPI, on loopback, in one folder, without root.

It checks signatures, expiry and ranges as production stores do; the usual mocks do not.
`python -m tests.servers.s3` installs it ahead of a test run.
"""

import fcntl
import getpass
import os
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests import ROOT

from . import Unavailable
from .ports import free_port
from .process import listens, until_ready

REQUIREMENT = "swift==2.38.*"
# It and all that it needs come as wheels; a compiler is never needed.
INSTALL_SECONDS = 300
START_SECONDS = 300
ACCESS_KEY, SECRET_KEY, BUCKET = "test:tester", "testing-secret", "marketplace-test"
BACKENDS = ("account", "container", "object")

SWIFT_CONF = """
[swift-hash]
swift_hash_path_prefix = marketplace
swift_hash_path_suffix = tests
[storage-policy:0]
name = one
default = yes
"""
COMMON = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = {user}
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
fallocate_reserve = 0
disable_fallocate = true
log_level = ERROR
"""
BACKEND = """
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
conn_timeout = 60
node_timeout = 60
# What is stored is listed from then on, however slow the machine.
container_update_timeout = 60
"""
PROXY = f"""
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats s3api tempauth copy slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
# There is one disk: one that was full is asked again at once, not after a minute.
error_suppression_interval = 0
conn_timeout = 60
node_timeout = 60
recoverable_node_timeout = 60
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
# Nobody listens there; the server then goes without a cache.
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_{ACCESS_KEY.replace(":", "_")} = {SECRET_KEY} .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
"""


class S3Server(NamedTuple):
    """A running server; `groups` are its groups of processes."""

    endpoint: str
    groups: tuple[int, ...] = ()
    access_key: str = ACCESS_KEY
    secret_key: str = SECRET_KEY
    bucket: str = BUCKET

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of its processes: SIGSTOP makes it hang, until SIGCONT."""
        for group in self.groups:
            os.killpg(group, number)

    def storage_options(self) -> dict[str, Any]:
        """Return what `STORAGES["default"]["OPTIONS"]` needs."""
        return {
            "bucket_name": self.bucket,
            "access_key": self.access_key,
            "secret_key": self.secret_key,
            "endpoint_url": self.endpoint,
            "region_name": "us-east-1",
        }


def install() -> Path:
    """Return the environment's `bin`, made at the first call; several test processes may call at once.

    Raises:
        Unavailable: pip could not get it.
    """
    cache = Path(os.environ.get("TEST_SERVERS_DIR") or ROOT / "var" / "test-servers")
    cache.mkdir(parents=True, exist_ok=True)
    environment = cache / "swift"
    with (cache / "swift.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (environment / "ready").exists():
            _make(environment)
    return environment / "bin"


def _make(environment: Path) -> None:
    command = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", REQUIREMENT]
    try:
        # Fails on a Debian Python without python3-venv.
        venv.create(environment, with_pip=True, clear=True)
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Unavailable("pip did not get Swift within five minutes") from error
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or "").strip().splitlines()[-1:]
        raise Unavailable(f"pip could not install Swift: {' '.join(map(str, said))}") from error
    (environment / "ready").touch()


@contextmanager
def running(parent: Path | None = None) -> Iterator[S3Server]:
    """Run the server in a folder of its own for as long as the block lasts.

    Args:
        parent: Where to make that folder; the system's place for temporary files when left out.

    Raises:
        Unavailable: it cannot be installed or started.
    """
    commands = install()
    with tempfile.TemporaryDirectory(prefix="marketplace-s3-", dir=parent) as name:
        folder = Path(name)
        ports = [free_port() for _ in (*BACKENDS, "proxy")]
        _configure(folder, commands, ports)
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for kind in (*BACKENDS, "proxy"):
                processes.append(_start(commands, folder, kind))  # noqa: PERF401 - what was started must be known when the next fails
            for kind, port, process in zip((*BACKENDS, "proxy"), ports, processes, strict=True):
                until_ready(process, partial(listens, port), folder / f"{kind}.log")
            # Each was started in a session of its own.
            yield S3Server(f"http://127.0.0.1:{ports[-1]}", tuple(process.pid for process in processes))
        finally:
            _stop(processes)


def _configure(folder: Path, commands: Path, ports: list[int]) -> None:
    (folder / "devices" / "one").mkdir(parents=True)
    (folder / "swift.conf").write_text(SWIFT_CONF)
    for kind, port in zip((*BACKENDS, "proxy"), ports, strict=True):
        common = COMMON.format(port=port, user=getpass.getuser(), folder=folder)
        (folder / f"{kind}.conf").write_text(common + (PROXY if kind == "proxy" else BACKEND.format(kind=kind)))
        if kind == "proxy":
            continue
        builder = str(folder / f"{kind}.builder")
        for step in (["create", "4", "1", "0"], ["add", f"r1z1-127.0.0.1:{port}/one", "1"], ["rebalance"]):
            # The ring builder answers 1 for a mere warning; a missing ring shows at the start.
            subprocess.run([commands / "swift-ring-builder", builder, *step], check=False, capture_output=True, timeout=START_SECONDS)


def _start(commands: Path, folder: Path, kind: str) -> subprocess.Popen[bytes]:
    with (folder / f"{kind}.log").open("wb") as log:
        return subprocess.Popen(
            [commands / "python", commands / f"swift-{kind}-server", folder / f"{kind}.conf", "verbose"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    for process in processes:
        process.wait(timeout=20)


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{install()}\n")
    except Unavailable as reason:
        sys.exit(str(reason))
