"""Serializers of approvals."""

from rest_framework import serializers

from marketplace.api.fields import Amount

from ...approval_queries import approval_url
from ...models import Approval
from ...models.approvals import ApprovalStatus
from ...models.quotes import CURRENCIES

_EXPIRES_AT_HELP = "When the approval ends, and with it the price."


class ApprovalRequestedResponse(serializers.Serializer[Approval]):
    """Nothing was bought: the purchase waits for the wallet's owner."""

    success = serializers.SerializerMethodField(help_text="Always false: nothing was bought.")
    approvalId = serializers.CharField(source="pk")
    approvalUrl = serializers.SerializerMethodField(help_text="The page on which the owner decides. Show it to the owner.")
    expiresAt = serializers.DateTimeField(source="expires_at", help_text=_EXPIRES_AT_HELP)

    def get_success(self, _approval: Approval) -> bool:
        return False

    def get_approvalUrl(self, approval: Approval) -> str:
        return approval_url(approval)


class ApprovalResponse(serializers.Serializer[Approval]):
    """A purchase above a spending limit, and what the wallet's owner decided."""

    approvalId = serializers.CharField(source="pk")
    status = serializers.ChoiceField(
        ApprovalStatus.choices,
        source="current_status",
        help_text="Approved: repeat the purchase with its idempotency key. Completed: it was bought.",
    )
    approvalUrl = serializers.SerializerMethodField(help_text="The page on which the owner decides.")
    assetId = serializers.CharField(source="quote.listing_id")
    licenseSlug = serializers.CharField(source="quote.license_slug")
    price = Amount(source="quote.price_minor", help_text="In currency; guaranteed until expiresAt.")
    currency = serializers.ChoiceField(source="quote.currency", choices=CURRENCIES)
    reason = serializers.CharField(help_text="Why the app asked, in its words; it may be empty.")
    exceededLimit = serializers.CharField(
        source="exceeded_limit", help_text="The spending limit that it exceeded: perPurchase, perDay, total, category or currency."
    )
    createdAt = serializers.DateTimeField(source="created_at", help_text="When it was asked for.")
    expiresAt = serializers.DateTimeField(source="expires_at", help_text=_EXPIRES_AT_HELP)
    decidedAt = serializers.DateTimeField(
        source="decided_at", allow_null=True, help_text="When it was approved or declined; null if it was neither."
    )
    orderId = serializers.CharField(source="order_id", allow_null=True, help_text="The order, once it was bought.")

    def get_approvalUrl(self, approval: Approval) -> str:
        return approval_url(approval)
