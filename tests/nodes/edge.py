"""The shipped nginx before nodes, each of which can be cut off from it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import requests

from ..servers.gate import Gate, gate
from ..servers.nginx import Proxy, nginx
from .deployment import Deployment


@dataclass
class Edge:
    """A running proxy."""

    proxy: Proxy
    gates: list[Gate]

    def session(self) -> requests.Session:
        """Return a caller that reaches the service through here."""
        return self.proxy.session()

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Let no node be reached inside the block."""
        for each in self.gates:
            each.shut()
        try:
            yield
        finally:
            for each in self.gates:
                each.open()


@contextmanager
def at_the_edge(deployment: Deployment) -> Iterator[Edge]:
    """Run nginx before the nodes."""
    with ExitStack() as stack:
        gates = [stack.enter_context(gate(urlsplit(address).port or 0)) for address in deployment.addresses]
        yield Edge(stack.enter_context(nginx([f"127.0.0.1:{each.port}" for each in gates])), gates)
