"""A server with the demo's content, behind a gateway that adds the demo's MCP token."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...flows.server import environment, manage
from ...servers.migrated import copy_demo
from ...servers.ports import free_port
from ...servers.process import MANY_CALLS, Process, granian
from .gateway import gateway

# Clients of this host may describe themselves, so that the server says that some may.
_CLIENTS = {"CLIENT_METADATA_HOSTS": "client.example"}


@dataclass(frozen=True)
class Shop:
    """A running shop: its public address, at which the tools need no token, and the demo's MCP token."""

    base_url: str
    token: str


@contextmanager
def open_shop(folder: Path) -> Iterator[Shop]:
    """Fill a shop with the demo's content and serve until the block ends."""
    port, server_port = free_port(), free_port()
    base_url = f"http://localhost:{port}"
    env = environment(folder, base_url, MANY_CALLS | _CLIENTS)
    copy_demo(folder)
    manage(env, "quickstart", "--no-serve", "--port", str(port))
    token = json.loads((folder / "demo.json").read_text("utf-8"))["developer"]["mcpToken"]
    server = Process(granian(server_port, "--blocking-threads", "4"), env, folder / "console.txt")
    with server.serving(f"http://127.0.0.1:{server_port}/robots.txt"), gateway(port, server_port, token):
        yield Shop(base_url, token)
