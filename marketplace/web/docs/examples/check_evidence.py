"""Verifies the evidence of an order: `python check_evidence.py evidence.json keys.json`."""

import base64
import json
import sys
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def decoded(text: str) -> bytes:
    """Return the bytes of unpadded base64url."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def verify(document: dict[str, Any], keys: dict[str, Any]) -> dict[str, Any]:
    """Return what was signed; raise an error if it is not what the document says."""
    head, payload, signature = document["jws"].split(".")
    header, claims = json.loads(decoded(head)), json.loads(decoded(payload))
    key = next(key for key in keys["keys"] if key["kid"] == header["kid"])
    Ed25519PublicKey.from_public_bytes(decoded(key["x"])).verify(decoded(signature), f"{head}.{payload}".encode())
    if header["typ"] != "evidence+jws" or json.dumps(claims, sort_keys=True) != json.dumps(document["evidence"], sort_keys=True):
        raise ValueError("the signature is of something else")
    return dict(claims)


evidence, keys = (json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:])
try:
    claims = verify(evidence, keys)
except (InvalidSignature, StopIteration, AttributeError, LookupError, TypeError, ValueError):
    sys.exit("NOT GENUINE: it was altered, or signed by somebody else.")
print(f"Genuine: issued by {claims['issuer']} at {claims['issuedAt']} for order {claims['order']['id']}.")
