"""Licence certificates as W3C Verifiable Credentials 2.0, and the Bitstring Status Lists that tell which are still valid."""

import base64
import gzip
import hashlib
import re
from typing import Any

import orjson
from django.conf import settings
from django.core.cache import caches
from django.db.models import Max, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlsafe_base64_encode

from marketplace.core.errors import NotFound

from . import bounds
from .certificates import CertificateCheck, CertificateStatus, certificate_page_url, check_claims
from .models import StatusListPosition
from .proofs import add_proof, issuer_did, verify_proof
from .signatures import NotGenuine

VC_CONTEXT = "https://www.w3.org/ns/credentials/v2"
# By purpose, the licences whose bit is set.
STATUS_CONDITIONS = {
    # For good: the purchase was refunded or charged back.
    "revocation": Q(licence__revoked_at__isnull=False),
    # The payment is disputed, or an upgrade replaced the licence; both can be undone.
    "suspension": Q(licence__suspended_at__isnull=False) | Q(licence__replaced_at__isnull=False),
}
_LIST_ID = re.compile(rf"({'|'.join(STATUS_CONDITIONS)})-(0|[1-9][0-9]{{0,4}})")


def signed_credential(claims: dict[str, Any], position: int) -> dict[str, Any]:
    """Return the claims of a certificate as a signed credential with this position in the status lists."""
    certificate_id = claims["certificateId"]
    number, index = divmod(position, bounds.STATUS_LIST_LENGTH)
    lists = {purpose: status_list_url(f"{purpose}-{number}") for purpose in STATUS_CONDITIONS}
    return add_proof(
        {
            "@context": [VC_CONTEXT, context_url()],
            "id": certificate_page_url(certificate_id),
            "type": ["VerifiableCredential", "LicenceCredential"],
            "issuer": issuer_did(),
            "validFrom": claims["acquiredAt"],
            "credentialSubject": {"id": f"urn:uuid:{certificate_id}", "certificate": claims},
            "credentialStatus": [
                {
                    "id": f"{url}#{index}",
                    "type": "BitstringStatusListEntry",
                    "statusPurpose": purpose,
                    "statusListIndex": str(index),
                    "statusListCredential": url,
                }
                for purpose, url in lists.items()
            ],
            "relatedResource": [{"id": context_url(), "digestSRI": context_digest()}],
        }
    )


def check_credential(credential: dict[str, Any]) -> CertificateCheck:
    """Verify a signed credential and return the current status of its licence."""
    try:
        verify_proof(credential)
        return check_claims(credential["credentialSubject"]["certificate"])
    except (NotGenuine, LookupError, TypeError):
        return CertificateCheck(CertificateStatus.NOT_GENUINE)


def context() -> bytes:
    """Return the JSON-LD context of our credentials. It never changes: a changed one gets another address."""
    terms = {
        "@protected": True,
        "LicenceCredential": f"{context_url()}#LicenceCredential",
        "certificate": {"@id": f"{context_url()}#certificate", "@type": "@json"},
    }
    return orjson.dumps({"@context": terms})


def context_url() -> str:
    """Return the address of the JSON-LD context."""
    return settings.BASE_URL + reverse("credential-context")


def context_digest() -> str:
    """Return the digest of the JSON-LD context in the form of Subresource Integrity."""
    return "sha384-" + base64.b64encode(hashlib.sha384(context()).digest()).decode()


def status_list_url(list_id: str) -> str:
    """Return the address of a status list."""
    return settings.BASE_URL + reverse("certificate-status-list", args=[list_id])


def status_list(list_id: str) -> dict[str, Any]:
    """Return a signed status list credential, at most `STATUS_LIST_SECONDS` old.

    Raises:
        NotFound: there is no such list.
    """
    match = _LIST_ID.fullmatch(list_id)
    if match is None:
        raise NotFound
    purpose, number = match.groups()
    signed: Any = caches["responses"].get_or_set(
        f"status-list:{list_id}", lambda: _signed_list(purpose, int(number)), bounds.STATUS_LIST_SECONDS
    )
    return dict(signed)


def _signed_list(purpose: str, number: int) -> dict[str, Any]:
    newest = StatusListPosition.objects.aggregate(newest=Max("position"))["newest"]
    start = number * bounds.STATUS_LIST_LENGTH
    if newest is None or start > newest:
        raise NotFound
    url = status_list_url(f"{purpose}-{number}")
    return add_proof(
        {
            "@context": [VC_CONTEXT],
            "id": url,
            "type": ["VerifiableCredential", "BitstringStatusListCredential"],
            "issuer": issuer_did(),
            "validFrom": timezone.now().isoformat(timespec="seconds").replace("+00:00", "Z"),
            "credentialSubject": {
                "id": f"{url}#list",
                "type": "BitstringStatusList",
                "statusPurpose": purpose,
                "encodedList": _encoded_list(purpose, start),
            },
        }
    )


def _encoded_list(purpose: str, start: int) -> str:
    """Return the bits of the list that starts at this position, compressed, in multibase; the first bit is the highest of the first byte."""
    bits = bytearray(bounds.STATUS_LIST_LENGTH // 8)
    within = StatusListPosition.objects.filter(position__gte=start, position__lt=start + bounds.STATUS_LIST_LENGTH)
    for position in within.filter(STATUS_CONDITIONS[purpose]).values_list("position", flat=True):
        byte, bit = divmod(position - start, 8)
        bits[byte] |= 0x80 >> bit
    return "u" + urlsafe_base64_encode(gzip.compress(bits, mtime=0))
