"""Small HTTP servers in this process."""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Answers requests of every method by `respond`, and writes no log."""

    @property
    def body(self) -> bytes:
        """What was sent; it can be read once."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def respond(self) -> None:
        """Answer."""
        raise NotImplementedError

    def do_GET(self) -> None:
        """Answer."""
        self.respond()

    do_POST = do_PUT = do_DELETE = do_OPTIONS = do_GET  # noqa: N815 - names of the base class

    def answer(self, status: int, content: bytes = b"", **headers: str) -> None:
        """Send a whole answer; an underscore in the name of a header stands for a hyphen."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        # The client may be gone.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, *_args: object) -> None:
        """Write nothing."""


@contextmanager
def serving(handler: type[Handler], address: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve at an address of this machine until the block ends; yield the port."""
    family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
    server = type("Server", (ThreadingHTTPServer,), {"address_family": family})((address, port), handler)
    if tls is not None:
        # In the thread of the connection: one that says nothing holds up no other.
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
