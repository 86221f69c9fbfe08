"""A load balancer: terminates TLS, passes each request to the next node, and skips nodes that are down."""

import itertools
import threading
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

HOST = "shop.test"
BASE_URL = f"https://{HOST}"


class Balancer(HTTPAdapter):
    """A transport for sessions of `requests`, for which the service is at `BASE_URL`."""

    def __init__(self, nodes: list[str]) -> None:
        super().__init__(pool_maxsize=32)
        self.nodes = nodes
        self.served: list[str] = []
        self._turn = itertools.count()
        self._lock = threading.Lock()

    def session(self) -> requests.Session:
        """Return a browser or program that reaches the service through here, and everything else directly."""
        session = requests.Session()
        # Not the machine's proxies.
        session.trust_env = False
        session.mount(BASE_URL, self)
        return session

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        """Send a request to the next node; to another when nobody listens there."""
        with self._lock:
            first = next(self._turn)
        for number in range(len(self.nodes)):
            node = self.nodes[(first + number) % len(self.nodes)]
            try:
                response = super().send(self._onward(request, node), *args, **kwargs)
            except requests.ConnectionError:
                if number + 1 == len(self.nodes):
                    raise
                continue
            self.served.append(node)
            response.url, response.request = str(request.url), request
            return response
        raise requests.ConnectionError("there is no node")

    def _onward(self, request: requests.PreparedRequest, node: str) -> requests.PreparedRequest:
        parts = urlsplit(str(request.url))
        onward = request.copy()
        onward.url = node + parts.path + (f"?{parts.query}" if parts.query else "")
        onward.headers.update({"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"})
        return onward
