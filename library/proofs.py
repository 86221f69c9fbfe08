"""Data Integrity proofs (W3C) of the cryptosuite eddsa-jcs-2022, and the keys that verify them.

The keys are those of `library.signatures`, published as the verification methods of a `did:web`.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import base58
import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings
from django.utils import timezone
from jwcrypto.jwk import JWK

from .signatures import NotGenuine, keys, keys_by_id

PROOF = {"type": "DataIntegrityProof", "cryptosuite": "eddsa-jcs-2022", "proofPurpose": "assertionMethod"}
# The multicodec of an Ed25519 public key.
_ED25519 = b"\xed\x01"
# The longest base58 of a signature, with the `z` of multibase before it.
_PROOF_VALUE_CHARS = 89


def issuer_did() -> str:
    """Return the decentralized identifier of the service: `did:web` with its host."""
    return "did:web:" + urlsplit(settings.BASE_URL).netloc.replace(":", "%3A")


def did_document() -> dict[str, Any]:
    """Return the document of the service's identifier: the key that signs now, then the retired ones, which still verify."""
    did = issuer_did()
    methods = [
        {
            "id": _method_id(key),
            "type": "Multikey",
            "controller": did,
            "publicKeyMultibase": _multibase(_ED25519 + _public_key(key).public_bytes_raw()),
        }
        for key in keys()
    ]
    return {
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
        "id": did,
        "verificationMethod": methods,
        "assertionMethod": [method["id"] for method in methods],
    }


def add_proof(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with a proof by the current key."""
    key = keys()[0]
    created = timezone.now().isoformat(timespec="seconds").replace("+00:00", "Z")
    proof = PROOF | {"@context": document["@context"], "created": created, "verificationMethod": _method_id(key)}
    signature = cast("Ed25519PrivateKey", key.get_op_key("sign")).sign(_digest(document, proof))
    return document | {"proof": proof | {"proofValue": _multibase(signature)}}


def verify_proof(secured: Mapping[str, Any]) -> None:
    """Verify the proof of a document.

    Raises:
        NotGenuine: it is malformed, of another cryptosuite, or not by one of our keys.
    """
    document = dict(secured)
    try:
        proof = dict(document.pop("proof"))
        value, method = str(proof.pop("proofValue")), proof["verificationMethod"]
        key = keys_by_id()[method.partition("#")[2]]
        known = PROOF.items() <= proof.items() and method == _method_id(key) and proof["@context"] == document["@context"]
        if not known or not value.startswith("z") or len(value) > _PROOF_VALUE_CHARS:
            raise NotGenuine
        _public_key(key).verify(base58.b58decode(value[1:]), _digest(document, proof))
    except (InvalidSignature, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise NotGenuine from error


def _digest(document: Mapping[str, Any], proof: Mapping[str, Any]) -> bytes:
    """Return what is signed: the SHA-256 of the proof's options, then that of the document, each in its canonical form (RFC 8785)."""
    return b"".join(hashlib.sha256(rfc8785.dumps(dict(part))).digest() for part in (proof, document))


def _method_id(key: JWK) -> str:
    return f"{issuer_did()}#{key.thumbprint()}"


def _public_key(key: JWK) -> Ed25519PublicKey:
    return cast("Ed25519PublicKey", key.get_op_key("verify"))


def _multibase(content: bytes) -> str:
    return "z" + base58.b58encode(content).decode()
