"""Verifies a verifiable credential offline: `python check_credential.py did.json credential.json LIST.json...`."""

import base64
import gzip
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import base58
import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def verify(credential: dict[str, Any], did: dict[str, Any]) -> None:
    """Raise an error if the proof of a credential is not by the issuer."""
    document = dict(credential)
    options = dict(document.pop("proof"))
    signature = base58.b58decode(options.pop("proofValue")[1:])
    expected = ("eddsa-jcs-2022", "assertionMethod", document["@context"], did["id"])
    if (options["cryptosuite"], options["proofPurpose"], options["@context"], document["issuer"]) != expected:
        raise ValueError("another kind of proof, or another issuer")
    method = next(each for each in did["verificationMethod"] if each["id"] == options["verificationMethod"])
    # After the two bytes that name the kind of key.
    key = Ed25519PublicKey.from_public_bytes(base58.b58decode(method["publicKeyMultibase"][1:])[2:])
    key.verify(signature, b"".join(hashlib.sha256(rfc8785.dumps(part)).digest() for part in (options, document)))


def is_set(entry: dict[str, Any], lists: dict[str, Any]) -> bool:
    """Return the bit of a status entry."""
    subject = lists[entry["statusListCredential"]]["credentialSubject"]
    if subject["statusPurpose"] != entry["statusPurpose"]:
        raise ValueError("a list of another purpose")
    bits = gzip.decompress(base64.urlsafe_b64decode(subject["encodedList"][1:] + "=="))
    byte, bit = divmod(int(entry["statusListIndex"]), 8)
    return bool(bits[byte] & 0x80 >> bit)


did, credential, *downloaded = (json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:])
try:
    for each in (credential, *downloaded):
        verify(each, did)
    lists = {each["id"]: each for each in downloaded}
    ended = [entry["statusPurpose"] for entry in credential["credentialStatus"] if is_set(entry, lists)]
except (InvalidSignature, StopIteration, AttributeError, LookupError, TypeError, ValueError):
    sys.exit("NOT GENUINE: it was altered, signed by somebody else, or a status list is missing.")
if ended:
    sys.exit(f"NOT VALID: {', '.join(ended)}.")
certificate = credential["credentialSubject"]["certificate"]
print(f"Valid: {certificate['license']['name']} licence for {certificate['asset']['title']}.")
