"""Serializers of purchases and wallet transactions."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.api.fields import Amount, Line
from marketplace.api.pagination import Page
from marketplace.api.serializers import Limit

from ... import bounds
from ...licensees import ClaimStatus
from ...models import Journal, Order
from ...models.ledger import JournalKind
from ...models.orders import OrderStatus
from ...models.quotes import CURRENCIES
from .wallet import DISCOUNT_CODE_HELP, DISCOUNT_HELP, UPGRADE_CREDIT_HELP, UPGRADE_FROM_HELP, TextOrNull

# The journals that move a wallet, and what its owner sees them as.
TRANSACTION_KINDS = {
    JournalKind.FUNDING: "funding",
    JournalKind.SALE: "purchase",
    JournalKind.REFUND: "refund",
    JournalKind.HOLD: "payout",
    JournalKind.RETURN: "payout_returned",
    JournalKind.FREEZE: "frozen",
    JournalKind.UNFREEZE: "unfrozen",
    JournalKind.REPAYMENT: "repayment",
}

NEXT_CURSOR_HELP = "Send it as cursor to get the next page; null on the last page."


class HistoryQuery(serializers.Serializer[Any]):
    """Paging."""

    limit = Limit(default=bounds.HISTORY_LIMIT_DEFAULT, maximum=bounds.HISTORY_LIMIT)
    cursor = Line(required=False, max_length=200, help_text="The nextCursor of the previous page.")


class OrderLicensee(serializers.Serializer[Any]):
    """Whom a licence was bought for, and whether they have claimed it."""

    name = serializers.CharField()
    email = serializers.CharField()
    status = serializers.ChoiceField(ClaimStatus.choices)


class OrderResponse(serializers.Serializer[Order]):
    """One purchase."""

    id = serializers.CharField()
    status = serializers.ChoiceField(OrderStatus.choices)
    assetId = serializers.CharField(source="listing_id")
    title = serializers.CharField(help_text="The asset's title at the time of purchase.")
    licenseSlug = serializers.CharField(source="license_slug")
    licenseName = serializers.CharField(source="license_name", help_text="The licence's name at the time of purchase.")
    termsVersion = serializers.IntegerField(source="terms.version", help_text="The version of the licence's terms at the time of purchase.")
    termsSha256 = serializers.CharField(source="terms.sha256", help_text="SHA-256 of the terms' text.")
    seller = serializers.CharField(
        source="store_name", help_text="The store's name at the time of purchase; the seller of record is on the invoice."
    )
    version = serializers.CharField()
    currency = serializers.ChoiceField(CURRENCIES)
    price = Amount(source="price_minor", help_text="What was paid, tax included.")
    taxIncluded = Amount(source="tax_minor", help_text="The part of price that is tax.")
    taxRatePercent = serializers.SerializerMethodField(help_text="The tax rate used.")
    discount = Amount(source="discount_minor", help_text=DISCOUNT_HELP)
    discountCode = TextOrNull(source="discount_code", help_text=DISCOUNT_CODE_HELP)
    upgradeFrom = TextOrNull(source="upgrade_from", help_text=UPGRADE_FROM_HELP)
    upgradeCredit = Amount(source="upgrade_credit_minor", help_text=UPGRADE_CREDIT_HELP)
    licensee = OrderLicensee(
        allow_null=True,
        help_text="Whom the licence was bought for; null for the buyer. Name and email address are empty once the account that claimed it is deleted.",
    )
    appId = serializers.CharField(source="app_id", allow_null=True, help_text="The app that bought it; null if none did.")
    createdAt = serializers.DateTimeField(source="created_at")
    refundedAt = serializers.DateTimeField(
        source="refunded_at", allow_null=True, help_text="Time of the refund; null if it was not refunded."
    )
    receiptUrl = serializers.SerializerMethodField(help_text="The receipt as a page; accepts the same credential.")
    receiptPdfUrl = serializers.SerializerMethodField(help_text="The receipt as a PDF; accepts the same credential.")

    def get_taxRatePercent(self, order: Order) -> float:
        return order.tax_rate_bp / 100

    def get_receiptUrl(self, order: Order) -> str:
        return settings.BASE_URL + reverse("order-receipt", args=[order.pk])

    def get_receiptPdfUrl(self, order: Order) -> str:
        return settings.BASE_URL + reverse("order-receipt-pdf", args=[order.pk])


class OrderPage(serializers.Serializer[Page]):
    """The caller's purchases, newest first."""

    items = OrderResponse(source="rows", many=True)
    nextCursor = serializers.CharField(source="next_cursor", allow_null=True, help_text=NEXT_CURSOR_HELP)


class WalletTransaction(serializers.Serializer[Journal]):
    """One event that moved the caller's money."""

    id = serializers.CharField()
    kind = serializers.SerializerMethodField(
        help_text="payout: set aside to be paid out to the owner; payout_returned: it was refused or cancelled; frozen: a card payment "
        "is disputed or returns to its card; unfrozen: the dispute was won, or the refund to the card failed; repayment: what was owed for a card payment that was returned. More may be added."
    )
    amount = Amount(source="wallet_net_minor", help_text="Negative for debits.")
    currency = serializers.ChoiceField(CURRENCIES, source="wallet.currency")
    balanceAfter = Amount(source="wallet_balance_minor", help_text="The balance in this currency right after it.")
    at = serializers.DateTimeField()
    orderId = serializers.CharField(source="order_id", allow_null=True)
    title = serializers.CharField(source="order.title", allow_null=True, help_text="The asset of the order; null if there is none.")

    @extend_schema_field(serializers.ChoiceField(sorted(TRANSACTION_KINDS.values())))
    def get_kind(self, journal: Journal) -> str:
        return TRANSACTION_KINDS[JournalKind(journal.kind)]


class WalletTransactionPage(serializers.Serializer[Page]):
    """The caller's transactions, newest first."""

    items = WalletTransaction(source="rows", many=True)
    nextCursor = serializers.CharField(source="next_cursor", allow_null=True, help_text=NEXT_CURSOR_HELP)
