"""Serializers of arguments that the API has no serializer for."""

from rest_framework import serializers

from library.api.serializers.library import DownloadQuery
from marketplace.api.fields import Line, Text
from marketplace.api.serializers import Body
from marketplace.core import bounds
from wallet import bounds as wallet_bounds
from wallet.api.serializers.top_ups import TopUpBody
from wallet.api.serializers.wallet import SpendBody


class AssetArgument(Body):
    """The asset."""

    assetId = Line(max_length=bounds.SLUG_CHARS, help_text="The asset's id or slug.")


class DownloadArguments(AssetArgument, DownloadQuery):
    """The asset, and its version."""


class _Key(serializers.RegexField):
    """An idempotency key."""

    def __init__(self, help_text: str) -> None:
        super().__init__(
            r"^[!-~]+\Z",
            max_length=wallet_bounds.IDEMPOTENCY_KEY_CHARS,
            trim_whitespace=False,
            error_messages=Text.default_error_messages | {"invalid": "A string of printable ASCII characters without spaces is required."},
            help_text=help_text,
        )


class PurchaseArguments(SpendBody):
    """The purchase, and its idempotency key."""

    idempotencyKey = _Key(
        "A new random text, such as a UUID, for each purchase that the user agreed to. Repeat a call that got no answer with the "
        "same one: it buys once at most."
    )


class TopUpArguments(TopUpBody):
    """The credit to add, and its idempotency key."""

    idempotencyKey = _Key("A new random text, such as a UUID, for each top-up. Repeat a call that got no answer with the same one.")
