"""Secrets of keys and tokens: prefix, 32 random base62 characters, 6 of CRC-32.

With about 190 random bits they need no slow hash: SHA-256 in a unique column is enough.
"""

import hashlib
import secrets
import string
import zlib
from enum import StrEnum

from django.conf import settings

_ALPHABET = string.digits + string.ascii_letters
_RANDOM_CHARS = 32
_CHECKSUM_CHARS = 6


_START = "cam_test_" if settings.SANDBOX else "cam_"


class Prefix(StrEnum):
    """The beginning of a secret, by which people and secret scanners recognise its kind, and whether it is one of a sandbox."""

    API_KEY = f"{_START}sk_"
    ACCESS_TOKEN = f"{_START}at_"
    REFRESH_TOKEN = f"{_START}rt_"
    PERSONAL_TOKEN = f"{_START}pat_"
    MCP_TOKEN = f"{_START}mcp_"
    FIRST_PARTY_TOKEN = f"{_START}fp_"


BEARER_PREFIXES = (Prefix.PERSONAL_TOKEN, Prefix.ACCESS_TOKEN, Prefix.MCP_TOKEN)


def new_secret(prefix: Prefix) -> str:
    """Return a new random secret."""
    body = prefix + "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_CHARS))
    return body + _checksum(body)


def well_formed(secret: str, *prefixes: Prefix) -> bool:
    """Tell whether the secret has one of the prefixes and a valid checksum, which finds typos without a query."""
    prefix = next((p for p in prefixes if secret.startswith(p)), None)
    if prefix is None or len(secret) != len(prefix) + _RANDOM_CHARS + _CHECKSUM_CHARS or not secret.isascii():
        return False
    return secrets.compare_digest(_checksum(secret[:-_CHECKSUM_CHARS]), secret[-_CHECKSUM_CHARS:])


def digest_of(secret: str) -> str:
    """Return the SHA-256 of a secret in hex, which is what is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(_CHECKSUM_CHARS):
        number, remainder = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[remainder] + digits
    return digits
