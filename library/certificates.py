"""Licence certificates: signed statements of what was licensed to whom, which third parties can verify.

A certificate is generated from the licence on request. Its signature proves what it states; whether the licence
is still valid is looked up by the certificate's id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import TextChoices
from django.urls import reverse

from catalog.ai_use import training_sentence
from marketplace.core.database import row_by_id
from marketplace.core.errors import NotFound
from marketplace.ui.pdf import PdfDocument, render_pdf

from . import signatures
from .models import Licence

SCHEMA_VERSION = "1.0"


class CertificateStatus(TextChoices):
    """The current status of a certificate."""

    VALID = "valid", "The licence is valid"
    REVOKED = "revoked", "The purchase was refunded or charged back"
    REPLACED = "replaced", "An upgrade replaced the licence"
    SUSPENDED = "suspended", "The payment for the licence is disputed"
    NOT_GENUINE = "notGenuine", "Not signed by us, altered, or for no licence of ours"


@dataclass(frozen=True)
class CertificateCheck:
    """The result of the verification of a certificate."""

    status: CertificateStatus
    # The signed claims; None without a valid signature, and where only the id was checked.
    certificate: dict[str, Any] | None = None
    revoked_at: datetime | None = None
    # Labels and values to show to people.
    facts: Sequence[tuple[str, str]] = ()

    @property
    def valid(self) -> bool:
        """Tell whether signature and licence are valid."""
        return self.status == CertificateStatus.VALID


def certificate_claims(licence: Licence) -> dict[str, Any]:
    """Return the claims of a licence's certificate."""
    listing, deliverable, terms = licence.listing, licence.deliverable, licence.terms
    return {
        "certificateId": str(licence.id),
        "schemaVersion": SCHEMA_VERSION,
        "issuer": settings.BASE_URL,
        "licensee": _licensee(licence),
        "asset": {"id": str(listing.id), "slug": listing.slug, "title": licence.title, "vendor": licence.store_name},
        "license": {
            "slug": licence.tier.slug,
            "name": terms.name,
            "termsVersion": terms.version,
            "termsSha256": terms.sha256,
            "aiTraining": licence.ai_training,
        },
        "version": licence.version,
        "file": {"name": deliverable.original_filename, "size": deliverable.file_size, "checksum": deliverable.sha256},
        "orderId": str(licence.order_id),
        "acquiredAt": licence.acquired_at.isoformat().replace("+00:00", "Z"),
    }


def _licensee(licence: Licence) -> dict[str, Any]:
    """Return whom the licence is for: its holder, or whom the buyer named."""
    holder_id = None if licence.holder_id is None else str(licence.holder_id)
    if licence.holder is not None and not licence.licensee_email:
        return {"id": holder_id, "email": licence.holder.email, "name": None}
    return {"id": holder_id, "email": licence.licensee_email, "name": licence.licensee_name}


def signed_certificate(claims: dict[str, Any]) -> dict[str, Any]:
    """Return the claims with their signature and the addresses that verify both."""
    return {
        "certificate": claims,
        "jws": signatures.sign(claims),
        "keysUrl": settings.BASE_URL + reverse("certificate-keys"),
        "statusUrl": settings.BASE_URL + reverse("certificate", args=[claims["certificateId"]]),
    }


def certificate_page_url(certificate_id: str) -> str:
    """Return the address of the page with the status of a certificate."""
    return f"{settings.BASE_URL}{reverse('certificate-page')}?id={certificate_id}"


def certificate_pdf(claims: dict[str, Any]) -> bytes:
    """Return the certificate as a PDF."""
    facts = [*_facts_of(claims), ("Verify it at", certificate_page_url(claims["certificateId"]))]
    closing = "This document repeats the signed certificate. Use the address above to check whether the licence is still valid."
    return render_pdf(PdfDocument("Licence certificate", f"Issued by {claims['issuer']}", facts, paragraphs=[closing]))


def _facts_of(claims: dict[str, Any]) -> list[tuple[str, str]]:
    file = claims["file"]
    return [
        ("Asset", claims["asset"]["title"]),
        ("Asset ID", f"{claims['asset']['id']} ({claims['asset']['slug']})"),
        ("Vendor", claims["asset"]["vendor"]),
        ("Licence", f"{claims['license']['name']} ({claims['license']['slug']})"),
        ("AI training", training_sentence(claims["license"]["aiTraining"])),
        ("Licensed to", ", ".join(filter(None, (claims["licensee"].get("name"), claims["licensee"]["email"])))),
        ("Acquired", f"{datetime.fromisoformat(claims['acquiredAt']):%Y-%m-%d %H:%M} UTC"),
        ("Order", claims["orderId"]),
        ("Version", claims["version"] or "not numbered"),
        ("File", f"{file['name']}, {file['size']:,} bytes"),
        ("SHA-256 of the file", file["checksum"]),
        ("Terms", f"version {claims['license']['termsVersion']}"),
        ("SHA-256 of the terms", claims["license"]["termsSha256"]),
        ("Certificate", claims["certificateId"]),
    ]


def check_certificate(text: str) -> CertificateCheck:
    """Verify a signed certificate and return its current status."""
    try:
        return check_claims(signatures.verify(text))
    except signatures.NotGenuine:
        return CertificateCheck(CertificateStatus.NOT_GENUINE)


def check_claims(claims: dict[str, Any]) -> CertificateCheck:
    """Return the current status of a certificate with these claims, whose signature is valid."""
    try:
        licence = licence_of_certificate(str(claims.get("certificateId")))
    except NotFound:
        return CertificateCheck(CertificateStatus.NOT_GENUINE)
    return CertificateCheck(certificate_status(licence), claims, licence.revoked_at, _facts_of(claims))


def check_certificate_id(certificate_id: str) -> CertificateCheck:
    """Return the current status of a certificate by its id, with public facts only: nothing about its holder.

    Raises:
        NotFound: no certificate has this id.
    """
    licence = licence_of_certificate(certificate_id)
    facts = [
        ("Asset ID", str(licence.listing_id)),
        ("Licence", f"{licence.tier.name} ({licence.tier.slug})"),
        ("AI training", training_sentence(licence.ai_training)),
        ("Acquired", f"{licence.acquired_at:%Y-%m-%d %H:%M} UTC"),
        ("Version", licence.version or "not numbered"),
        ("SHA-256 of the file", licence.deliverable.sha256),
        ("Certificate", str(licence.pk)),
    ]
    return CertificateCheck(certificate_status(licence), revoked_at=licence.revoked_at, facts=facts)


def licence_of_certificate(certificate_id: str) -> Licence:
    """Return the licence behind a certificate's id.

    Raises:
        NotFound: no certificate has this id.
    """
    licence = row_by_id(Licence.objects.select_related("listing__store", "tier", "deliverable"), certificate_id)
    if licence is None:
        raise NotFound
    return licence


def certificate_status(licence: Licence) -> CertificateStatus:
    """Return the status of a certificate with a valid signature."""
    if licence.revoked_at is not None:
        return CertificateStatus.REVOKED
    if licence.replaced_at is not None:
        return CertificateStatus.REPLACED
    return CertificateStatus.VALID if licence.suspended_at is None else CertificateStatus.SUSPENDED
