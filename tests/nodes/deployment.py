"""Starts a deployment: PostgreSQL, Redis, an S3 server, a mail server, a worker and nodes, each in processes of its own."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import requests

from marketplace.settings.environment import new_signing_key

from ..flows.server import manage, plain_text
from ..servers import redis, s3
from ..servers.gate import Gate, gate
from ..servers.migrated import fill_postgres
from ..servers.ports import free_port
from ..servers.postgres import Cluster
from ..servers.process import Process, bare_environment, call_in, granian
from ..waiting import until
from .balancer import BASE_URL, HOST, Balancer
from .mailbox import Mailbox

NODES = 2


@dataclass
class Deployment:
    """What runs."""

    env: dict[str, str]
    nodes: list[Process]
    addresses: list[str]
    worker: Process
    mailbox: Mailbox
    database: Cluster
    cache: redis.Server
    store: s3.S3Server
    gates: dict[str, Gate] = field(default_factory=dict)
    base_url: str = BASE_URL

    def __post_init__(self) -> None:
        self.balancer = Balancer(self.addresses)

    def session(self) -> requests.Session:
        """Return a caller that reaches the nodes in turn."""
        return self.balancer.session()

    def session_at(self, number: int) -> requests.Session:
        """Return a caller that reaches one node only."""
        return Balancer([self.addresses[number]]).session()

    def mail_to(self, address: str, subject: str) -> str:
        """Return the text of the newest mail with these words in its subject, waiting for it."""

        def found() -> list[EmailMessage]:
            return [mail for mail in self.mailbox.mails if mail["To"] == address and subject in mail["Subject"]]

        return plain_text(until(found, f"a mail to {address} about {subject}", log=self.worker.log)[-1])

    def start(self, number: int) -> None:
        """Start a node and wait until it answers."""
        self.nodes[number].start(f"{self.addresses[number]}/healthz", {"Host": HOST})

    def manage(self, *words: str) -> str:
        """Run a management command beside the nodes."""
        return manage(self.env, *words)


@contextmanager
def deployed(folder: Path, *, gated: bool = False, given: dict[str, str] | None = None) -> Iterator[Deployment]:
    """Start everything, with two nodes, an empty shop and an admin.

    Args:
        folder: For logs, and a folder for each node of which the others know nothing.
        gated: Put a gate before each dependency.
        given: Further settings.
    """
    with ExitStack() as stack:
        # What was answered with success is there after a kill.
        database = Cluster("synchronous_commit=on")
        stack.callback(database.remove)
        database.start()
        (folder / "cache").mkdir()
        cache = redis.Server(folder / "cache", free_port())
        stack.callback(cache.stop)
        cache.start()
        store = stack.enter_context(s3.running())
        addresses = {"database": database.address, "cache": cache.address, "object store": store.endpoint}
        mailbox = Mailbox()
        stack.callback(mailbox.remove)
        addresses["mail"] = f"smtp://127.0.0.1:{mailbox.port}"
        gates: dict[str, Gate] = {}
        if gated:
            for name, address in addresses.items():
                gates[name] = stack.enter_context(gate(urlsplit(address).port or 0))
                addresses[name] = address.replace(f":{urlsplit(address).port}", f":{gates[name].port}")
        with psycopg.connect(database.address, autocommit=True) as connection:
            connection.execute("CREATE DATABASE shop")
        env = environment(addresses, store, folder) | (given or {})
        fill_postgres(env["DATABASE_URL"])
        call_in(env, "tests.nodes.shop.prepare")
        yield _start(stack, folder, env, mailbox, (database, cache, store), gates)


def environment(addresses: dict[str, str], store: s3.S3Server, folder: Path) -> dict[str, str]:
    """Return the production settings, complete, and nothing else but what processes need."""
    return bare_environment() | {
        "DJANGO_SETTINGS_MODULE": "marketplace.settings.production",
        "SECRET_KEY": "nodes-share-this-key-nodes-share-this-key-nodes-share-it",
        "CERTIFICATE_KEY": new_signing_key(),
        "ALLOWED_HOSTS": HOST,
        "BASE_URL": BASE_URL,
        "DATABASE_URL": addresses["database"].removesuffix("/postgres") + "/shop",
        "REDIS_URL": f"{addresses['cache']}/0",
        **store.settings(),
        "S3_ENDPOINT_URL": addresses["object store"],
        "EMAIL_URL": addresses["mail"],
        "TRUST_PROXY_HEADERS": "true",
        "TRUSTED_PROXIES": "127.0.0.1",
        "ADMIN_REQUIRES_SECOND_FACTOR": "false",
        "INSPECT_AS_ROOT": "true",
        "GRANIAN_BLOCKING_THREADS": "64",
        "DATA_DIR": str(folder / "commands"),
        "PYTHONUNBUFFERED": "1",
    }


def _start(
    stack: ExitStack,
    folder: Path,
    env: dict[str, str],
    mailbox: Mailbox,
    servers: tuple[Cluster, redis.Server, s3.S3Server],
    gates: dict[str, Gate],
) -> Deployment:
    nodes, addresses = [], []
    for number in range(NODES):
        port, own = free_port(), folder / f"node-{number}"
        own.mkdir()
        # As in an image, every node has the same.
        (own / "static").symlink_to(folder / "commands" / "static")
        nodes.append(Process(granian(port, "--respawn-failed-workers"), env | {"DATA_DIR": str(own)}, folder / f"node-{number}.log"))
        addresses.append(f"http://127.0.0.1:{port}")
    worker = Process([sys.executable, "manage.py", "worker"], env | {"DATA_DIR": str(folder / "worker")}, folder / "worker.log")
    deployment = Deployment(env, nodes, addresses, worker, mailbox, *servers, gates)
    for process in (*nodes, worker):
        stack.callback(process.stop)
    worker.start()
    for number in range(NODES):
        deployment.start(number)
    return deployment
