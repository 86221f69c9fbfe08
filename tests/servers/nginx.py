"""nginx with the configuration in `deploy/`, on loopback ports of its own, without root."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from tests import ROOT

from ..waiting import until
from . import Unavailable
from .certificate import write_certificate
from .ports import free_port
from .process import Process, listens

MAIN, TEMPLATE = ROOT / "deploy" / "nginx.conf", ROOT / "deploy" / "nginx.conf.template"
HOST, FILES_HOST = "shop.test", "files.shop.test"
NOBODY = "127.0.0.1:9"


@dataclass(frozen=True)
class Proxy:
    """A running nginx.

    Args:
        port: Where the site is served, with TLS.
        certificate: What a client must trust.
        folder: Holds `nginx.conf`, `conf.d/default.conf`, `access.log` and `error.log`.
        host: The name of the site.
    """

    port: int
    certificate: Path
    folder: Path
    host: str

    def session(self, *, source: str = "127.0.0.1") -> requests.Session:
        """Return a client that reaches `https://host` here.

        Args:
            source: The loopback address that it connects from: nginx takes clients at 127.0.0.2 and 127.0.0.3 for different ones.
        """
        session = requests.Session()
        # Not the proxies of this machine.
        session.trust_env = False
        session.verify = str(self.certificate)
        session.mount(f"https://{self.host}", _Adapter(self.host, self.port, source))
        return session


class _Adapter(HTTPAdapter):
    """Connects to a port of this machine for a host name that has no address."""

    def __init__(self, host: str, port: int, source: str) -> None:
        self._host, self._port, self._source = host, port, source
        super().__init__()

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **kwargs: Any) -> None:  # noqa: FBT001, FBT002 - as requests declares it
        kwargs |= {"server_hostname": self._host, "assert_hostname": self._host, "source_address": (self._source, 0)}
        super().init_poolmanager(connections, maxsize, block, **kwargs)

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        onward = request.copy()
        onward.url = str(request.url).replace(f"https://{self._host}", f"https://127.0.0.1:{self._port}", 1)
        onward.headers["Host"] = self._host
        response = super().send(onward, *args, **kwargs)
        response.url, response.request = str(request.url), request
        return response


def configuration(
    folder: Path,
    nodes: Sequence[str] = (NOBODY,),
    *,
    host: str = HOST,
    ports: tuple[int, int] = (443, 80),
) -> Path:
    """Write `nginx.conf` and a certificate into a folder, and return the path of the first.

    Args:
        folder: Also takes what nginx writes.
        nodes: Addresses of the nodes, with or without `http://`.
        host: The name of the site.
        ports: With TLS and without.
    """
    write_certificate(folder, host, FILES_HOST)
    text = TEMPLATE.read_text(encoding="utf-8")
    # As many nodes as there are, in each group of them.
    text = re.sub(r"\n *server app-2:8000.*", "", text)
    for line in re.findall(r" *server app-1:8000.*", text):
        text = text.replace(line, "\n".join(line.replace("app-1:8000", _bare(node)) for node in nodes))
    for shipped, ours in {
        "${HOST}": host,
        "${FILES_HOST}": FILES_HOST,
        "listen 443 ssl": f"listen 127.0.0.1:{ports[0]} ssl",
        "listen 80": f"listen 127.0.0.1:{ports[1]}",
        "/etc/nginx/tls": str(folder),
        "/var/cache/nginx": str(folder),
        "objects:7070": NOBODY,
    }.items():
        text = text.replace(shipped, ours)
    (folder / "conf.d").mkdir(exist_ok=True)
    (folder / "conf.d" / "default.conf").write_text(text, encoding="utf-8")
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    main = MAIN.read_text(encoding="utf-8")
    for shipped, ours in {
        # Started by root, it would give what it writes to an account that cannot enter the folder.
        "user nginx;": "user root;" if os.getuid() == 0 else "",
        # Fewer may be allowed here.
        "worker_rlimit_nofile": "# worker_rlimit_nofile",
        "/run/nginx.pid": f"{folder}/pid",
        "/var/log/nginx": str(folder),
        "/etc/nginx/conf.d": f"{folder}/conf.d",
        "http {": f"http {{ {temporary}",
    }.items():
        main = main.replace(shipped, ours)
    path = folder / "nginx.conf"
    path.write_text(main, encoding="utf-8")
    return path


def _bare(address: str) -> str:
    return urlsplit(address).netloc if "//" in address else address


def find_program() -> str:
    """Return nginx's path."""
    # Debian keeps it where only root looks.
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        raise Unavailable("nginx is not installed")
    return program


@contextmanager
def nginx(nodes: Sequence[str], *, host: str = HOST) -> Iterator[Proxy]:
    """Run nginx before nodes until the block ends; see `configuration` for the arguments."""
    program = find_program()
    with tempfile.TemporaryDirectory(prefix="marketplace-nginx-") as name:
        folder, ports = Path(name), (free_port(), free_port())
        path = configuration(folder, nodes, host=host, ports=ports)
        log = folder / "error.log"
        server = Process([program, "-p", folder, "-c", path, "-e", log, "-g", "daemon off;"], os.environ, log)
        try:
            server.start()
            # Not `until_ready`: our configuration may be why it does not start, and nobody may skip that.
            until(lambda: listens(ports[0]) or not server.runs, "nginx", log=log)
            assert server.runs, log.read_text(errors="replace")
            yield Proxy(ports[0], folder / "cert.pem", folder, host)
        finally:
            server.stop()
