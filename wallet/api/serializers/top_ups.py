"""Serializers of top-ups."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.api.fields import TWO_DECIMALS, Amount, Choice, Line, Price
from marketplace.api.serializers import Body
from marketplace.core import bounds as core_bounds
from marketplace.core.money import to_number

from ... import bounds
from ...models import TopUp
from ...models.quotes import CURRENCIES
from ...models.top_ups import TopUpStatus


@extend_schema_field(
    {"type": "number", "minimum": bounds.MIN_TOP_UP_MINOR / 100, "maximum": core_bounds.MAX_PRICE_MINOR / 100} | TWO_DECIMALS
)
class TopUpAmount(Price):
    """The amount of a top-up."""

    def to_internal_value(self, data: Any) -> int:
        """Return minor units."""
        minor = super().to_internal_value(data)
        if minor < bounds.MIN_TOP_UP_MINOR:
            raise serializers.ValidationError(f"At least {to_number(bounds.MIN_TOP_UP_MINOR):.2f}.", code="min_value")
        return minor


class TopUpBody(Body):
    """The credit to add, and where the payer returns to."""

    amount = TopUpAmount(help_text="The amount to add, in currency.")
    currency = Choice(choices=CURRENCIES, help_text="The wallet to credit; nothing is converted.")
    returnUrl = Line(
        max_length=core_bounds.URL_CHARS,
        required=False,
        help_text="Where the payer is sent afterwards: an address with the origin of one of the app's redirect URIs. By default a page of ours.",
    )


class TopUpResponse(serializers.Serializer[TopUp]):
    """A top-up: the account's owner pays it on a page of the payment provider."""

    id = serializers.CharField(source="pk")
    status = serializers.ChoiceField(
        TopUpStatus.choices,
        help_text="Pending, Failed: nothing was credited. Succeeded: credited. Disputed: credited, and the wallet's balance is frozen "
        "up to the disputed amount. Returned: all of it went back to the card.",
    )
    amount = Amount(source="amount_minor", help_text="In currency.")
    currency = serializers.ChoiceField(choices=CURRENCIES)
    paymentUrl = serializers.CharField(source="payment_url", help_text="The page on which the owner pays. Open it in a browser.")
    expiresAt = serializers.DateTimeField(source="expires_at", help_text="When the page closes.")
    receiptUrl = serializers.SerializerMethodField(
        help_text="The receipt as PDF, for the owner's browser; null until the payment is confirmed."
    )

    def get_receiptUrl(self, top_up: TopUp) -> str | None:
        return None if top_up.paid_at is None else settings.BASE_URL + reverse("top-up-receipt", args=[top_up.pk])
