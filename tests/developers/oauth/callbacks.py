"""Servers of apps, where browsers arrive with a code."""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "app.example"


class _Callback(BaseHTTPRequestHandler):
    """Says that someone arrived; under /hop it sends them on to where the server was told."""

    def do_GET(self) -> None:
        """Answer a browser."""
        onward = getattr(self.server, "onward", "")
        if onward and self.path.startswith("/hop"):
            self.send_response(302)
            self.send_header("Location", f"{onward}?{self.path.partition('?')[2]}")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>arrived</title>")

    def log_message(self, *_args: object) -> None:
        """Write nothing."""


class _IPv6Server(ThreadingHTTPServer):
    address_family = socket.AF_INET6


@contextmanager
def serving(address: str, *, onward: str = "", certificate: Path | None = None) -> Iterator[int]:
    """Run a server at an address of this machine while the block lasts; yield its port."""
    kind = _IPv6Server if ipaddress.ip_address(address).version == 6 else ThreadingHTTPServer
    server = kind((address, 0), _Callback)
    server.onward = onward  # type: ignore[attr-defined]  # read by the handler
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        # In the thread of the connection: one that says nothing holds up no other.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def write_certificate(folder: Path) -> Path:
    """Write a certificate with its key that nobody trusts."""
    key, name, now = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)]),
        datetime.now(tz=UTC),
    )
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
    certificate = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False).sign(key, hashes.SHA256())
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "callback.pem"
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path
