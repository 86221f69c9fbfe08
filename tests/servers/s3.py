"""A real S3 server for tests: OpenStack Swift with its s3api, from PyPI, on loopback, in one folder, without root.

It checks signatures, expiry and ranges as production stores do; the usual mocks do not.
"""

import getpass
import os
import subprocess
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from signal import Signals
from typing import Any, NamedTuple

from . import Unavailable, installed
from .ports import free_port
from .process import Process, listens

REQUIREMENT = "swift==2.38.*"
# It and all that it needs come as wheels; a compiler is never needed.
INSTALL_SECONDS = 300
ACCESS_KEY, SECRET_KEY, BUCKET = "test:tester", "testing-secret", "marketplace-test"
SERVERS = ("account", "container", "object", "proxy")

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
pipeline = cache s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
# There is one disk: one that was full is asked again at once, not after a minute.
error_suppression_interval = 0
conn_timeout = 60
node_timeout = 60
recoverable_node_timeout = 60
[filter:cache]
use = egg:swift#memcache
# Nobody listens there; the server then goes without a cache.
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_{ACCESS_KEY.replace(":", "_")} = {SECRET_KEY} .admin
[filter:slo]
use = egg:swift#slo
"""


class S3Server(NamedTuple):
    """A running server."""

    endpoint: str
    processes: Sequence[Process] = ()

    def signal(self, number: Signals) -> None:
        """Send a signal to all of its processes: SIGSTOP makes it hang, until SIGCONT."""
        for process in self.processes:
            assert process.running is not None
            # Each is the first of a group.
            os.killpg(process.running.pid, number)

    def storage_options(self) -> dict[str, Any]:
        """Return what `STORAGES["default"]["OPTIONS"]` needs."""
        return {
            "bucket_name": BUCKET,
            "access_key": ACCESS_KEY,
            "secret_key": SECRET_KEY,
            "endpoint_url": self.endpoint,
            "region_name": "us-east-1",
        }

    def settings(self) -> dict[str, str]:
        """Return the environment of a service that keeps its files here."""
        names = {"S3_BUCKET": BUCKET, "S3_ACCESS_KEY_ID": ACCESS_KEY, "S3_SECRET_ACCESS_KEY": SECRET_KEY}
        return names | {"S3_ENDPOINT_URL": self.endpoint}


def install() -> Path:
    """Return the folder of the server's programs, which pip got at the first call.

    Raises:
        Unavailable: pip could not get it.
    """
    return installed("swift", REQUIREMENT, _make) / "environment" / "bin"


def _make(folder: Path) -> None:
    environment = folder / "environment"
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


@contextmanager
def running(parent: Path | None = None) -> Iterator[S3Server]:
    """Run the server in a folder of its own for as long as the block lasts.

    Args:
        parent: Where to make that folder; the system's place for temporary files when left out.

    Raises:
        Unavailable: it cannot be installed or started.
    """
    commands = install()
    with tempfile.TemporaryDirectory(prefix="marketplace-s3-", dir=parent) as name, ExitStack() as stack:
        folder, ports = Path(name), {kind: free_port() for kind in SERVERS}
        _configure(folder, commands, ports)
        processes = []
        for kind in SERVERS:
            command: list[str | Path] = [commands / "python", commands / f"swift-{kind}-server", folder / f"{kind}.conf", "verbose"]
            processes.append(Process(command, os.environ, folder / f"{kind}.log"))
            stack.callback(processes[-1].kill)
            processes[-1].start()
        for process, port in zip(processes, ports.values(), strict=True):
            process.until_ready(partial(listens, port))
        yield S3Server(f"http://127.0.0.1:{ports['proxy']}", processes)


def _configure(folder: Path, commands: Path, ports: dict[str, int]) -> None:
    (folder / "devices" / "one").mkdir(parents=True)
    (folder / "swift.conf").write_text(SWIFT_CONF)
    for kind, port in ports.items():
        common = COMMON.format(port=port, user=getpass.getuser(), folder=folder)
        (folder / f"{kind}.conf").write_text(common + (PROXY if kind == "proxy" else BACKEND.format(kind=kind)))
        if kind == "proxy":
            continue
        builder = str(folder / f"{kind}.builder")
        for step in (["create", "4", "1", "0"], ["add", f"r1z1-127.0.0.1:{port}/one", "1"], ["rebalance"]):
            # The ring builder answers 1 for a mere warning; a missing ring shows at the start.
            subprocess.run([commands / "swift-ring-builder", builder, *step], check=False, capture_output=True, timeout=INSTALL_SECONDS)
