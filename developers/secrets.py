"""Secrets of keys and tokens: prefix, 32 random base62 characters, 6 of CRC-32.

About 190 bits of chance need no slow hash: SHA-256 on a unique column.
"""

import hashlib
import secrets
import string
import zlib
from enum import StrEnum

_ALPHABET = string.digits + string.ascii_letters
_RANDOM_CHARS = 32
_CHECK_CHARS = 6


class Prefix(StrEnum):
    """What a secret is, readable by people and by secret scanners."""

    API_KEY = "cam_sk_"
    ACCESS_TOKEN = "cam_at_"
    REFRESH_TOKEN = "cam_rt_"
    PERSONAL_TOKEN = "cam_pat_"
    MCP_TOKEN = "cam_mcp_"
    FIRST_PARTY_TOKEN = "cam_fp_"


def new_secret(prefix: Prefix) -> str:
    """Return a fresh secret. It is shown once and never stored."""
    body = prefix + "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_CHARS))
    return body + _check(body)


def well_formed(secret: str, *prefixes: Prefix) -> bool:
    """Tell whether this could be a secret of ours: a typo is refused without a query."""
    prefix = next((p for p in prefixes if secret.startswith(p)), None)
    if prefix is None or len(secret) != len(prefix) + _RANDOM_CHARS + _CHECK_CHARS or not secret.isascii():
        return False
    return secrets.compare_digest(_check(secret[:-_CHECK_CHARS]), secret[-_CHECK_CHARS:])


def digest_of(secret: str) -> str:
    """Return what is stored: SHA-256 in hex."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _check(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(_CHECK_CHARS):
        number, remainder = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[remainder] + digits
    return digits
