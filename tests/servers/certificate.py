"""A self-signed certificate."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID


def write_certificate(folder: Path, *names: str) -> Path:
    """Write `cert.pem` and `key.pem` for these host names, valid for a day, and return the path of the certificate."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(tz=UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    (folder / "cert.pem").write_bytes(builder.sign(key, SHA256()).public_bytes(pem))
    return folder / "cert.pem"


def tls_server(folder: Path, *names: str) -> tuple[ssl.SSLContext, Path]:
    """Return what a server of these names speaks TLS with, and the file that a client must trust."""
    certificate = write_certificate(folder, *names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, folder / "key.pem")
    return context, certificate
