"""The currencies of wallets, and quotes."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from catalog import bounds as catalog_bounds
from catalog.models import LicenseTerms, LicenseTier, Listing
from catalog.models.listings import AiTraining
from marketplace.core import bounds
from marketplace.core.ids import new_id
from marketplace.core.money import WALLET_CURRENCIES
from marketplace.ui.formatting import money

CURRENCIES = [currency.value for currency in WALLET_CURRENCIES]


class Quote(models.Model):
    """A price guaranteed to its owner until `expires_at`. The order that uses the quote refers to it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    listing = models.ForeignKey(Listing, on_delete=models.PROTECT, related_name="+")
    tier = models.ForeignKey(LicenseTier, on_delete=models.PROTECT, related_name="+")
    license_slug = models.CharField(max_length=40)
    # The licence's terms and the vendor's choice that were shown, whatever they are by the time of the purchase.
    terms = models.ForeignKey(LicenseTerms, on_delete=models.PROTECT, related_name="+", db_index=False)
    ai_training = models.CharField(max_length=10, choices=AiTraining.choices)
    currency = models.CharField(max_length=3)
    price_minor = models.BigIntegerField()
    # The listing's rate, which applies where no other does; the tax inside the price is decided again at the purchase.
    tax_rate_bp = models.PositiveIntegerField()
    tax_minor = models.BigIntegerField()
    # What was taken off the list price by a discount, with the code that was given.
    discount_minor = models.BigIntegerField(default=0)
    discount_code = models.CharField(max_length=catalog_bounds.DISCOUNT_CODE_CHARS, blank=True)
    # The purchase and tier of the licence that an upgrade replaces, and what is deducted for it. No foreign key: orders refer to quotes.
    upgraded_order_id = models.UUIDField(null=True, blank=True)
    upgrade_from = models.CharField(max_length=40, blank=True)
    upgrade_credit_minor = models.BigIntegerField(default=0)
    # Whom the purchase is for; empty for the owner.
    licensee_name = models.CharField(max_length=bounds.NAME_CHARS, blank=True)
    licensee_email = models.EmailField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.CheckConstraint(condition=Q(currency__in=CURRENCIES), name="quote_currency_known"),
            models.CheckConstraint(condition=Q(tax_minor__gte=0, price_minor__gte=F("tax_minor")), name="quote_tax_inside_price"),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="quote_lasts"),
            models.CheckConstraint(condition=Q(ai_training__in=AiTraining.values), name="quote_ai_training_known"),
        )
        indexes = (
            models.Index(fields=("owner", "expires_at"), name="quote_open"),
            models.Index(fields=("expires_at",), name="quote_expiry"),
        )

    def __str__(self) -> str:
        return f"{money(self.price_minor, self.currency)} until {self.expires_at:%Y-%m-%d %H:%M} UTC"
