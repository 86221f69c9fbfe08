"""The owner of a wallet, their preferences, and the references of credits."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.accounts.models import User
from marketplace.core.money import Currency

from .. import bounds
from .ledger import Journal
from .quotes import CURRENCIES


class WalletOwner(User):
    """A user as the owner of a wallet. The admin lists these as wallets, also before the first credit opens a ledger account."""

    class Meta:
        proxy = True
        verbose_name = "wallet"
        default_permissions = ("view",)
        permissions = (("credit_wallet", "Can credit users' wallets"), ("write_off_debt", "Can write off what buyers owe"))


class WalletSettings(models.Model):
    """A user's preferences; without a row the defaults apply."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="wallet_settings")
    currency_preference = models.CharField(max_length=3, choices=[(code, code) for code in CURRENCIES], default=Currency.INR.value)

    class Meta:
        verbose_name_plural = "wallet settings"
        constraints = (models.CheckConstraint(condition=Q(currency_preference__in=CURRENCIES), name="walletsettings_currency_known"),)

    def __str__(self) -> str:
        return self.currency_preference


class CreditReference(models.Model):
    """The credit for a payment, such as a bank transfer, by its reference. Append-only."""

    journal = models.OneToOneField(Journal, primary_key=True, on_delete=models.PROTECT, related_name="credit_reference")
    # The bank or service that assigned the reference.
    source = models.CharField(max_length=bounds.CREDIT_SOURCE_CHARS)
    reference = models.CharField(max_length=bounds.PAYMENT_REFERENCE_CHARS)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("source", "reference"), name="creditreference_once"),
            models.CheckConstraint(condition=~Q(source="") & ~Q(reference=""), name="creditreference_not_empty"),
        )

    def __str__(self) -> str:
        return f"{self.reference} ({self.source})"
