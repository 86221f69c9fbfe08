"""The evidence of an order: what was bought, agreed, delivered, paid and disputed, signed like a certificate.

Each reader gets what concerns them. Nobody else's personal data is in it, and no member of staff is named.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import JsonResponse
from django.urls import reverse
from django.utils import timezone

from library import signatures
from library.certificates import certificate_claims, certificate_status
from library.models import Download, Licence
from marketplace.core.money import to_number
from marketplace.storage.responses import attachment

from . import bounds
from .digests import journal_digests
from .models import Invoice, Journal, Order, RefundRequest, ReversalPart

SCHEMA_VERSION = "1.0"
TYPE = "evidence+jws"


class Reader(StrEnum):
    """Whom the document is for."""

    BUYER = "buyer"
    VENDOR = "vendor"
    STAFF = "staff"


def evidence_of(order: Order, reader: Reader) -> dict[str, Any]:
    """Return the claims of an order's evidence."""
    licence = Licence.objects.select_related("listing__store", "tier", "terms", "deliverable", "holder").get(order_id=order.pk)
    certificate = certificate_claims(licence)
    if reader == Reader.VENDOR:
        del certificate["licensee"]
    # Whoever paid for someone else's licence does not learn when it was used.
    downloads = Download.objects.filter(link__licence__order_id=order.pk).order_by("at", "id")
    if reader == Reader.BUYER:
        downloads = downloads.filter(link__user=order.buyer_id)
    parts = list(ReversalPart.objects.filter(order=order).select_related("reversal").order_by("reversal__opened_at"))
    return {
        "schemaVersion": SCHEMA_VERSION,
        "issuer": settings.BASE_URL,
        "issuedAt": _moment(timezone.now()),
        "reader": reader.value,
        "order": _order(order),
        "quote": _quote(order),
        "consent": {"version": order.consent_version, "text": order.consent_text} if order.consent_version else None,
        "certificate": certificate,
        "license": {"status": certificate_status(licence).value, "revokedAt": _moment(licence.revoked_at)},
        "downloads": list(_downloads(downloads)),
        "downloadCount": downloads.count(),
        "invoices": [
            {"kind": invoice.kind, "number": invoice.number, "date": invoice.date.isoformat()}
            for invoice in Invoice.objects.filter(order=order).order_by("id")
        ],
        "refundRequest": _refund_request(order),
        "disputes": [
            {
                "kind": part.reversal.kind,
                "status": part.reversal.status,
                "openedAt": _moment(part.reversal.opened_at),
                "decidedAt": _moment(part.reversal.decided_at),
            }
            for part in parts
        ],
        "ledger": list(_ledger(order, parts, reader)),
    }


def signed_evidence(claims: dict[str, Any]) -> dict[str, Any]:
    """Return the claims with their signature and the address of the public keys."""
    keys_url = settings.BASE_URL + reverse("certificate-keys")
    return {"evidence": claims, "jws": signatures.sign(claims, token_type=TYPE), "keysUrl": keys_url}


def evidence_response(order: Order, reader: Reader) -> JsonResponse:
    """Return the signed evidence as a download."""
    return JsonResponse(signed_evidence(evidence_of(order, reader)), headers=attachment(f"evidence-{order.pk}.json"))


def _order(order: Order) -> dict[str, Any]:
    return {
        "id": str(order.pk),
        "status": order.status,
        "assetId": str(order.listing_id),
        "title": order.title,
        "licenseSlug": order.license_slug,
        "licenseName": order.license_name,
        "seller": order.store_name,
        "version": order.version,
        "currency": order.currency,
        "price": to_number(order.price_minor),
        "taxIncluded": to_number(order.tax_minor),
        "discount": to_number(order.discount_minor),
        "upgradeFrom": order.upgrade_from or None,
        "upgradeCredit": to_number(order.upgrade_credit_minor),
        "boughtBy": order.credential_kind or "page",
        "createdAt": _moment(order.created_at),
        "refundedAt": _moment(order.refunded_at),
    }


def _quote(order: Order) -> dict[str, Any] | None:
    quote = order.quote
    if quote is None:
        return None
    return {
        "id": str(quote.pk),
        "currency": quote.currency,
        "price": to_number(quote.price_minor),
        "createdAt": _moment(quote.created_at),
        "expiresAt": _moment(quote.expires_at),
    }


def _downloads(downloads: QuerySet[Download]) -> Iterator[dict[str, Any]]:
    for download in downloads.select_related("link__package")[: bounds.MAX_EVIDENCE_DOWNLOADS]:
        link = download.link
        yield {
            "at": _moment(download.at),
            "file": link.file_name,
            "version": link.version,
            "checksum": link.package.sha256,
            "range": download.byte_range,
        }


def _refund_request(order: Order) -> dict[str, Any] | None:
    found = RefundRequest.objects.filter(order=order).first()
    if found is None:
        return None
    return {
        "status": found.status,
        "reason": found.reason,
        "details": found.details,
        "askedAt": _moment(found.asked_at),
        "answer": found.answer,
        "answeredAt": _moment(found.answered_at),
        "objection": found.objection,
        "escalatedAt": _moment(found.escalated_at),
        "decision": found.decision,
        "endedAt": _moment(found.ended_at),
    }


def _ledger(order: Order, parts: list[ReversalPart], reader: Reader) -> Iterator[dict[str, Any]]:
    """Yield the journals of an order, those that withheld or released the vendor's share of it, and those that returned its payment to the card.

    Amounts are those of the reader's account (for staff, the buyer's); others are left out.
    """
    # What each journal of a reversal changed of the vendor's share of this order; the journal may be about several orders.
    shares = {part.withholding_journal_id: -part.withheld_minor for part in parts}
    shares |= {part.release_journal_id: part.withheld_minor - part.taken_minor for part in parts}
    settled = Q(closed_reversal__parts__in=parts, kind="card_return")
    found = Journal.objects.filter(Q(order=order) | Q(pk__in=filter(None, shares)) | settled).distinct().order_by("id")
    journals = list(found.select_related("covered__ledger_digest"))
    digests = journal_digests([journal.pk for journal in journals])
    for journal in journals:
        if reader == Reader.VENDOR:
            amount = shares.get(journal.pk, journal.vendor_net_minor)
        else:
            amount = None if journal.order_id is None else journal.wallet_net_minor
        covered = getattr(journal, "covered", None)
        yield {
            "id": str(journal.pk),
            "kind": journal.kind,
            "at": _moment(journal.at),
            "currency": order.currency,
            "amount": None if amount is None else to_number(amount),
            "digest": digests[journal.pk],
            "ledgerDigest": None if covered is None else {"number": covered.ledger_digest_id, "digest": covered.ledger_digest.digest},
        }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")
