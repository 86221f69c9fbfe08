"""Signs certificates and other documents: JSON Web Signatures (RFC 7515) with Ed25519 (RFC 8037).

Keys are identified by their thumbprint (RFC 7638). One signs; retired keys still verify.
"""

import re
from functools import lru_cache
from typing import Any

import orjson
from django.conf import settings
from jwcrypto.common import JWException
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS

ALGORITHM = "EdDSA"
CERTIFICATE_TYPE = "licence+jws"
# The compact serialization: three parts in base64url without padding. Other forms of the same signature are refused.
_COMPACT = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){2}")


class NotGenuine(Exception):
    """The text is not a valid signature of this service."""


def sign(claims: dict[str, Any], *, token_type: str = CERTIFICATE_TYPE) -> str:
    """Return the signed claims in the compact serialization; the type tells a certificate from another document."""
    key = keys()[0]
    token = JWS(orjson.dumps(claims, option=orjson.OPT_SORT_KEYS))
    token.add_signature(key, protected=orjson.dumps({"alg": ALGORITHM, "kid": key.thumbprint(), "typ": token_type}).decode())
    return str(token.serialize(compact=True))


def verify(text: str) -> dict[str, Any]:
    """Verify a signed certificate and return its claims.

    Raises:
        NotGenuine: it is malformed, of another type or algorithm, or not signed by one of our keys.
    """
    if not _COMPACT.fullmatch(text):
        raise NotGenuine
    token = JWS()
    token.allowed_algs = [ALGORITHM]
    try:
        token.deserialize(text)
        header = token.jose_header
        key = keys_by_id().get(header.get("kid", ""))
        if key is None or header.get("typ") != CERTIFICATE_TYPE:
            raise NotGenuine
        token.verify(key)
        claims = orjson.loads(token.payload)
    except (JWException, ValueError, TypeError, AttributeError) as error:
        raise NotGenuine from error
    if not isinstance(claims, dict):
        raise NotGenuine
    return claims


def public_keys() -> dict[str, Any]:
    """Return the public keys as a JSON Web Key Set (RFC 7517), the current signing key first."""
    described = [key.export_public(as_dict=True) | {"alg": ALGORITHM, "use": "sig", "kid": key.thumbprint()} for key in keys()]
    return {"keys": described}


def keys() -> list[JWK]:
    """Return the key that signs, then the retired public keys."""
    return _load_keys(settings.CERTIFICATE_KEY, tuple(settings.CERTIFICATE_RETIRED_KEYS))


def keys_by_id() -> dict[str, JWK]:
    """Return the keys by their thumbprints."""
    return {key.thumbprint(): key for key in keys()}


@lru_cache(maxsize=4)
def _load_keys(private: str, retired: tuple[str, ...]) -> list[JWK]:
    return [JWK.from_pem(pem.encode()) for pem in (private, *retired)]
