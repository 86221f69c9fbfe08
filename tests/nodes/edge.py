"""The shipped nginx before nodes, each of which can be cut off from it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import requests

from ..servers.nginx import Proxy, nginx
from .deployment import Deployment
from .gate import Gate


@dataclass
class Edge:
    """A running proxy.

    Args:
        proxy: nginx.
        gates: Between it and each node.
    """

    proxy: Proxy
    gates: list[Gate]

    def session(self) -> requests.Session:
        """Return a caller that reaches the service through here."""
        return self.proxy.session()

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Let no node be reached inside the block."""
        for gate in self.gates:
            gate.shut()
        try:
            yield
        finally:
            for gate in self.gates:
                gate.open()


@contextmanager
def at_the_edge(deployment: Deployment) -> Iterator[Edge]:
    """Run nginx before the nodes.

    Raises:
        postgres.Unavailable: it is not installed.
    """
    with ExitStack() as stack:
        gates = [Gate(urlsplit(address).port or 0) for address in deployment.addresses]
        for gate in gates:
            stack.callback(gate.remove)
        yield Edge(stack.enter_context(nginx([f"127.0.0.1:{gate.port}" for gate in gates])), gates)
