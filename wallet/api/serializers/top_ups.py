"""Serializers of top-ups."""

from rest_framework import serializers

from marketplace.api.fields import Amount, Choice, Line, Price
from marketplace.api.serializers import Body
from marketplace.core import bounds

from ...models import TopUp
from ...models.quotes import CURRENCIES
from ...models.top_ups import TopUpStatus


class TopUpBody(Body):
    """The credit to add, and where the payer returns to."""

    amount = Price(help_text="The amount to add, in currency; at least 1.00.")
    currency = Choice(choices=CURRENCIES, help_text="The wallet to credit; nothing is converted.")
    returnUrl = Line(
        max_length=bounds.URL_CHARS,
        required=False,
        help_text="Where the payer is sent afterwards: an address with the origin of one of the app's redirect URIs. By default a page of ours.",
    )


class TopUpAnswer(serializers.Serializer[TopUp]):
    """A top-up: the account's owner pays it on a page of the payment provider."""

    id = serializers.CharField(source="pk")
    status = serializers.ChoiceField(TopUpStatus.choices, help_text="Only Succeeded has credited the wallet.")
    amount = Amount(source="amount_minor", help_text="In currency.")
    currency = serializers.ChoiceField(choices=CURRENCIES)
    paymentUrl = serializers.CharField(source="payment_url", help_text="The page on which the owner pays. Open it in a browser.")
    expiresAt = serializers.DateTimeField(source="expires_at", help_text="When the page closes.")
