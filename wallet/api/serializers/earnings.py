"""Serializers of a vendor's earnings."""

from typing import Any

from rest_framework import serializers

from marketplace.api.fields import Amount

from ...models import Journal
from ...models.ledger import JournalKind
from ...models.quotes import CURRENCIES
from .history import NEXT_CURSOR_HELP

# The journals that move a vendor's earnings.
EARNINGS_KINDS = (
    JournalKind.SALE,
    JournalKind.REFUND,
    JournalKind.PAYOUT,
    JournalKind.PAYOUT_RETURN,
    JournalKind.MANUAL_PAYOUT,
    JournalKind.KEPT_EARNINGS,
    JournalKind.WITHHOLD,
    JournalKind.RELEASE,
)


class EarningsBalance(serializers.Serializer[Any]):
    """The earnings in one currency that are not paid out."""

    currency = serializers.ChoiceField(CURRENCIES)
    balance = Amount(
        source="balance_minor", help_text="Negative after refunds of sales that were already paid out; deducted from later sales."
    )


class EarningsLine(serializers.Serializer[Journal]):
    """One event that moved the vendor's earnings."""

    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(
        [kind.value for kind in EARNINGS_KINDS],
        help_text="withhold: a buyer's card payment is disputed or was returned; release: that has ended; "
        "manual_payout: paid outside of the runs; kept_earnings: kept by the marketplace, because they could not be paid to you.",
    )
    amount = Amount(source="vendor_net_minor", help_text="The vendor's share; negative for refunds and payouts.")
    currency = serializers.ChoiceField(CURRENCIES, source="vendor.currency")
    orderId = serializers.CharField(source="order_id", allow_null=True)
    title = serializers.CharField(
        source="order.title", read_only=True, allow_null=True, help_text="The asset that was sold; null if there is no order."
    )


class EarningsPage(serializers.Serializer[Any]):
    """Balances, and what led to them, newest first."""

    balances = EarningsBalance(many=True, help_text="What is to be paid out, one entry for each currency.")
    items = EarningsLine(many=True)
    nextCursor = serializers.CharField(allow_null=True, help_text=NEXT_CURSOR_HELP)
