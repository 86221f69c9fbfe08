"""Serializers of refund requests, and of the evidence of an order."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from rest_framework import serializers

from library.api.serializers.certificates import CertificateClaims
from library.certificates import CertificateStatus
from marketplace.api.fields import Choice, LongText
from marketplace.api.serializers import Body
from marketplace.core import bounds as core_bounds

from ...evidence import Reader
from ...models import RefundRequest
from ...models.invoices import InvoiceKind
from ...models.ledger import JournalKind
from ...models.orders import OrderStatus
from ...models.quotes import CURRENCIES
from ...models.refund_requests import RefundReason, RefundRequestStatus
from ...models.top_ups import ReversalKind, ReversalStatus
from .wallet import DISCOUNT_HELP, UPGRADE_CREDIT_HELP, UPGRADE_FROM_HELP


class RefundRequestBody(Body):
    """Why a refund is asked for."""

    reason = Choice(choices=RefundReason.choices, help_text="What is wrong.")
    details = LongText(
        max_bytes=core_bounds.REASON_CHARS,
        required=False,
        default="",
        allow_blank=True,
        help_text="The vendor reads this, and perhaps our staff.",
    )


class RefundRequestResponse(serializers.Serializer[RefundRequest]):
    """A request for a refund."""

    id = serializers.CharField(source="pk")
    orderId = serializers.CharField(source="order_id", help_text="Id of the order.")
    status = serializers.ChoiceField(
        RefundRequestStatus.choices,
        help_text="Waiting: for the vendor's answer until answerBy; Declined: by the vendor, the buyer can ask our staff on the order's page; "
        "InReview: our staff decide; Refunded, Refused and Closed are final.",
    )
    reason = serializers.ChoiceField(RefundReason.choices, help_text="What is wrong.")
    details = serializers.CharField(help_text="What the buyer wrote.")
    askedAt = serializers.DateTimeField(source="asked_at", help_text="Time of the request.")
    answerBy = serializers.DateTimeField(
        source="answer_by", allow_null=True, help_text="When our staff take over; null if the vendor was not asked."
    )
    answer = serializers.CharField(help_text="Why the vendor declined.")
    decision = serializers.CharField(help_text="Why our staff refused.")
    endedAt = serializers.DateTimeField(source="ended_at", allow_null=True, help_text="Time of the decision; null before.")
    orderUrl = serializers.SerializerMethodField(help_text="The order's page, on which the buyer can ask our staff.")

    def get_orderUrl(self, refund_request: RefundRequest) -> str:
        return settings.BASE_URL + reverse("order-page", args=[refund_request.order_id])


class RefundRequestList(serializers.Serializer[Any]):
    """The requests for an order: one, or none."""

    items = RefundRequestResponse(many=True)


class EvidenceOrder(serializers.Serializer[Any]):
    """The order."""

    id = serializers.CharField()
    status = serializers.ChoiceField(OrderStatus.choices)
    assetId = serializers.CharField()
    title = serializers.CharField(help_text="The asset's title at the time of purchase.")
    licenseSlug = serializers.CharField()
    licenseName = serializers.CharField(help_text="The licence's name at the time of purchase.")
    seller = serializers.CharField(help_text="The store's name at the time of purchase.")
    version = serializers.CharField()
    currency = serializers.ChoiceField(CURRENCIES)
    price = serializers.FloatField(help_text="What was paid, tax included.")
    taxIncluded = serializers.FloatField(help_text="The part of price that is tax.")
    discount = serializers.FloatField(help_text=DISCOUNT_HELP)
    upgradeFrom = serializers.CharField(allow_null=True, help_text=UPGRADE_FROM_HELP)
    upgradeCredit = serializers.FloatField(help_text=UPGRADE_CREDIT_HELP)
    boughtBy = serializers.CharField(help_text="The kind of credential; `page` for the checkout.")
    createdAt = serializers.DateTimeField()
    refundedAt = serializers.DateTimeField(allow_null=True, help_text="Time of the refund; null if it was not refunded.")


class EvidenceQuote(serializers.Serializer[Any]):
    """The quote that fixed the price."""

    id = serializers.CharField()
    currency = serializers.ChoiceField(CURRENCIES)
    price = serializers.FloatField(help_text="The guaranteed price.")
    createdAt = serializers.DateTimeField()
    expiresAt = serializers.DateTimeField()


class EvidenceConsent(serializers.Serializer[Any]):
    """What the buyer agreed to at the checkout."""

    version = serializers.CharField()
    text = serializers.CharField(help_text="The sentence as it was shown.")


class EvidenceLicense(serializers.Serializer[Any]):
    """The licence when the document was made."""

    status = serializers.ChoiceField(CertificateStatus.choices)
    revokedAt = serializers.DateTimeField(allow_null=True)


class EvidenceDownload(serializers.Serializer[Any]):
    """A download of the package, or of a part of it."""

    at = serializers.DateTimeField(help_text="Time of the download.")
    file = serializers.CharField(help_text="Name of the package.")
    version = serializers.CharField()
    checksum = serializers.CharField(help_text="SHA-256 of the package.")
    range = serializers.CharField(help_text="The byte range that was asked for; empty for the whole.")


class EvidenceInvoice(serializers.Serializer[Any]):
    """An invoice or credit note."""

    kind = serializers.ChoiceField(InvoiceKind.choices)
    number = serializers.CharField(help_text="Its number.")
    date = serializers.DateField(help_text="Its date.")


class EvidenceRefundRequest(serializers.Serializer[Any]):
    """The request for a refund."""

    status = serializers.ChoiceField(RefundRequestStatus.choices)
    reason = serializers.ChoiceField(RefundReason.choices, help_text="What is wrong.")
    details = serializers.CharField(help_text="What the buyer wrote.")
    askedAt = serializers.DateTimeField(help_text="Time of the request.")
    answer = serializers.CharField(help_text="Why the vendor declined.")
    answeredAt = serializers.DateTimeField(allow_null=True, help_text="When the vendor declined.")
    objection = serializers.CharField(help_text="Why the buyer did not accept that.")
    escalatedAt = serializers.DateTimeField(allow_null=True, help_text="When our staff took over.")
    decision = serializers.CharField(help_text="Why our staff refused.")
    endedAt = serializers.DateTimeField(allow_null=True, help_text="Time of the decision.")


class EvidenceReversal(serializers.Serializer[Any]):
    """A dispute or a refund of the card payment behind the purchase."""

    kind = serializers.ChoiceField(ReversalKind.choices)
    status = serializers.ChoiceField(ReversalStatus.choices, help_text="Kept: nothing was returned to the card.")
    openedAt = serializers.DateTimeField(help_text="When it began.")
    decidedAt = serializers.DateTimeField(allow_null=True, help_text="When it ended.")


class EvidenceLedgerDigest(serializers.Serializer[Any]):
    """The digest that covers a journal."""

    number = serializers.IntegerField(help_text="Its number in the chain.")
    digest = serializers.CharField(help_text="SHA-256.")


class EvidenceJournal(serializers.Serializer[Any]):
    """A journal of the ledger."""

    id = serializers.CharField()
    kind = serializers.ChoiceField(JournalKind.choices, help_text="What moved money; card_return is to the card.")
    at = serializers.DateTimeField()
    currency = serializers.ChoiceField(CURRENCIES)
    amount = serializers.FloatField(allow_null=True, help_text="What it changed in the reader's account; null if nothing.")
    digest = serializers.CharField(help_text="SHA-256 of the journal.")
    ledgerDigest = EvidenceLedgerDigest(allow_null=True, help_text="The digest that covers it; null until the next hourly digest.")


class EvidenceClaims(serializers.Serializer[Any]):
    """What the service states about an order; the payload of its signature."""

    schemaVersion = serializers.CharField()
    issuer = serializers.CharField(help_text="Address of the service.")
    issuedAt = serializers.DateTimeField(help_text="When the document was made.")
    reader = serializers.ChoiceField(
        [reader.value for reader in Reader], help_text="Whom the document is for: each gets what concerns them."
    )
    order = EvidenceOrder(help_text="The order.")
    quote = EvidenceQuote(allow_null=True, help_text="The quote that fixed the price; null if there was none.")
    consent = EvidenceConsent(allow_null=True, help_text="Null for a purchase by an app or a token.")
    certificate = CertificateClaims(help_text="What the licence certificate says.")
    license = EvidenceLicense(help_text="Whether the licence is valid.")
    downloads = EvidenceDownload(
        many=True, help_text="Downloads that this reader may see, oldest first, at most 1,000: a buyer does not see those of a licensee."
    )
    downloadCount = serializers.IntegerField(help_text="How many downloads this reader may see.")
    invoices = EvidenceInvoice(many=True, help_text="The invoice, and the credit note if there is one.")
    refundRequest = EvidenceRefundRequest(allow_null=True, help_text="The request for a refund; null if there is none.")
    disputes = EvidenceReversal(many=True, help_text="Disputes and refunds of the card payment.")
    ledger = EvidenceJournal(many=True, help_text="The journals of the ledger, oldest first.")


class EvidenceResponse(serializers.Serializer[Any]):
    """The evidence of an order with its signature."""

    evidence = EvidenceClaims(help_text="What is stated about the order.")
    jws = serializers.CharField(help_text="The same claims signed with Ed25519: a compact JSON Web Signature (RFC 7515, RFC 8037).")
    keysUrl = serializers.CharField(help_text="The public keys.")
