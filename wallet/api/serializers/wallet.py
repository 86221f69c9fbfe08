"""Serializers of the wallet's request and response bodies."""

from typing import Any

from rest_framework import serializers

from catalog.api.fields import DiscountCode
from marketplace.api.fields import Amount, Choice, EmailAddress, Line
from marketplace.api.serializers import Body
from marketplace.core import bounds as core_bounds
from marketplace.core.money import Currency, to_number

from ... import bounds
from ...models import Quote
from ...models.quotes import CURRENCIES
from ...selectors import Wallet
from ...services.spending import Receipt

# For quotes, receipts and orders: the list price is what was paid with discount and upgradeCredit added.
DISCOUNT_HELP = "What a discount took off the list price, in currency; deducted already."
DISCOUNT_CODE_HELP = "The discount code that was given, in upper case; null if there was none."
UPGRADE_FROM_HELP = "The tier of the licence that is replaced; null if it is not an upgrade."
LICENSEE_HELP = "Whom the licence is for; null for the buyer."
UPGRADE_CREDIT_HELP = "What is deducted for the licence that is replaced, in currency; deducted already."


class TextOrNull(serializers.CharField):
    """A text, null where it is empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def to_representation(self, value: str) -> Any:
        """Return the text."""
        return value or None


class WalletResponse(serializers.Serializer[Wallet]):
    """The prepaid balances."""

    balanceINR = Amount(source="balance_inr_minor", help_text="Balance in rupees.")
    balanceUSD = Amount(source="balance_usd_minor", help_text="Balance in US dollars.")
    currencyPreference = serializers.ChoiceField(source="currency_preference", choices=CURRENCIES)


class PreferenceBody(Body):
    """The preferences of the wallet's owner."""

    ignored_fields = frozenset({"balanceINR", "balanceUSD"})

    currencyPreference = Choice(choices=CURRENCIES)


class LicenseeBody(Body):
    """Whom the licence is for, if not for the buyer."""

    name = Line(max_length=core_bounds.NAME_CHARS, help_text="The person or organisation that the certificate names.")
    email = EmailAddress(help_text="Where the link is sent. Any account can use it, once.")


class QuoteBody(Body):
    """The asset, the licence and the currency of a quote."""

    assetId = Line(max_length=core_bounds.SLUG_CHARS, help_text="The asset's id or slug.")
    currency = Choice(choices=CURRENCIES, required=False, help_text="The currency to pay in; by default currencyPreference.")
    licenseSlug = Line(
        max_length=40, required=False, help_text="The licence tier; by default the first one on sale, of an upgrade the next higher one."
    )
    discountCode = DiscountCode(required=False, help_text="The code of a discount of this asset.")
    upgradeFrom = Line(
        max_length=40,
        required=False,
        help_text="The tier of a licence that you have of this asset: the new one replaces it, and what was paid for it is deducted.",
    )
    licensee = LicenseeBody(required=False, help_text="Whom the licence is for, by default the buyer. Anyone else gets a link to claim it.")


class SpendBody(QuoteBody):
    """The asset, the licence and the currency of a purchase."""

    quoteId = Line(
        max_length=36, required=False, help_text="A quote's id: exactly its price is charged, in its currency and for its licence."
    )
    onLimit = Choice(
        choices=["refuse", "ask"],
        required=False,
        help_text="What happens above a spending limit: refuse, the default, or ask the wallet's owner, which needs an Idempotency-Key.",
    )
    reason = Line(
        max_length=bounds.APPROVAL_REASON_CHARS,
        required=False,
        help_text="Why to buy it, for the owner who is asked.",
    )


class PurchaseLicensee(serializers.Serializer[Any]):
    """Whom a licence is for, if not for the buyer."""

    name = serializers.CharField(source="licensee_name")
    email = serializers.CharField(source="licensee_email")

    def to_representation(self, instance: Any) -> Any:
        """Return null for the buyer."""
        return super().to_representation(instance) if instance.licensee_email else None


class QuoteResponse(serializers.Serializer[Quote]):
    """A promise: a purchase with `quoteId` costs exactly this until `expiresAt`, or is refused and says why."""

    quoteId = serializers.CharField(source="pk", help_text="Id of the quote, for spend.")
    price = Amount(source="price_minor", help_text="In currency.")
    currency = serializers.ChoiceField(choices=CURRENCIES)
    taxIncluded = Amount(source="tax_minor", help_text="The part of price that is tax.")
    licenseSlug = serializers.CharField(source="license_slug")
    discount = Amount(source="discount_minor", help_text=DISCOUNT_HELP)
    discountCode = TextOrNull(source="discount_code", help_text=DISCOUNT_CODE_HELP)
    upgradeFrom = TextOrNull(source="upgrade_from", help_text=UPGRADE_FROM_HELP)
    upgradeCredit = Amount(source="upgrade_credit_minor", help_text=UPGRADE_CREDIT_HELP)
    licensee = PurchaseLicensee(source="*", allow_null=True, help_text=LICENSEE_HELP)
    withinLimits = serializers.SerializerMethodField(help_text="Whether the caller's spending limits allow this purchase now.")
    exceededLimit = serializers.SerializerMethodField(
        help_text="The spending limit that it exceeds: perPurchase, perDay, total, category or currency; null if it is within all."
    )
    expiresAt = serializers.DateTimeField(source="expires_at")

    def get_withinLimits(self, _quote: Quote) -> bool:
        return self.context["exceeded"] is None

    def get_exceededLimit(self, _quote: Quote) -> str | None:
        exceeded: str | None = self.context["exceeded"]
        return exceeded


class SpendResponse(serializers.Serializer[Receipt]):
    """The receipt. Only one currency is debited; the other's amount is 0 and its balance unchanged."""

    success = serializers.SerializerMethodField(help_text="Always true; failures are problem documents.")
    orderId = serializers.CharField(source="order_id")
    debitedINR = serializers.SerializerMethodField(help_text="The amount debited from the INR balance.")
    newBalanceINR = Amount(source="balance_inr_minor", help_text="Balance in rupees after the purchase.")
    currency = serializers.ChoiceField(choices=CURRENCIES)
    debited = Amount(source="debited_minor", help_text="In currency.")
    newBalance = serializers.SerializerMethodField(help_text="In currency.")
    debitedUSD = serializers.SerializerMethodField(help_text="The amount debited from the USD balance.")
    newBalanceUSD = Amount(source="balance_usd_minor", help_text="Balance in US dollars after the purchase.")
    taxIncluded = Amount(source="tax_minor", help_text="The tax included in debited.")
    licenseSlug = serializers.CharField(source="license_slug")
    discount = Amount(source="discount_minor", help_text=DISCOUNT_HELP)
    discountCode = TextOrNull(source="discount_code", help_text=DISCOUNT_CODE_HELP)
    upgradeFrom = TextOrNull(source="upgrade_from", help_text=UPGRADE_FROM_HELP)
    upgradeCredit = Amount(source="upgrade_credit_minor", help_text=UPGRADE_CREDIT_HELP)
    licensee = PurchaseLicensee(source="*", allow_null=True, help_text=LICENSEE_HELP)

    def get_success(self, receipt: Receipt) -> bool:
        return True

    def get_debitedINR(self, receipt: Receipt) -> float:
        return _debited(receipt, Currency.INR)

    def get_debitedUSD(self, receipt: Receipt) -> float:
        return _debited(receipt, Currency.USD)

    def get_newBalance(self, receipt: Receipt) -> float:
        minor = receipt.balance_inr_minor if receipt.currency == Currency.INR else receipt.balance_usd_minor
        return to_number(minor)


def _debited(receipt: Receipt, currency: Currency) -> float:
    return to_number(receipt.debited_minor if receipt.currency == currency else 0)
