"""A receiver on this machine: keeps what arrives, checks it with the public library of Standard Webhooks, answers as it is told."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook


@dataclass
class Received:
    """One call."""

    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """What receivers tell repeats by."""
        return self.headers["webhook-id"]

    def opened_with(self, secret: str) -> Any:
        """Return the body, as the public library gives it out once the signature is right."""
        return Webhook(secret).verify(self.body, self.headers)


@dataclass
class Receiver:
    """A running one."""

    url: str
    calls: list[Received] = field(default_factory=list)
    status: int = 200
    answer: bytes = b"ok"
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0

    @property
    def bodies(self) -> list[Any]:
        """What arrived."""
        return [json.loads(call.body) for call in self.calls]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Listen until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.calls.append(Received({name.lower(): value for name, value in self.headers.items()}, body))
            time.sleep(receiver.seconds)
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(receiver.answer)))
            self.end_headers()
            self.wfile.write(receiver.answer)

        def log_message(self, *_args: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_address[1]}/hook")
    threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
