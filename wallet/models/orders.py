"""Orders: what was bought, at what price, and how the price was split."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from catalog import bounds as catalog_bounds
from catalog.models import Deliverable, LicenseTerms, LicenseTier, Listing
from developers.models import App
from marketplace.core import bounds as core_bounds
from marketplace.core.ids import new_id

from .. import bounds
from ..tax import Treatment
from .billing import BillingDetails, Seller
from .quotes import CURRENCIES, Quote


class OrderStatus(models.TextChoices):
    """The status of a purchase."""

    COMPLETED = "Completed"
    REFUNDED = "Refunded"
    # The card payment behind it was lost in a dispute or refunded at the provider.
    CHARGED_BACK = "ChargedBack"


class Order(models.Model):
    """One purchase. The price is gross: it includes tax, commission and the vendor's share.

    Title, licence, terms and version are those at the time of the sale. So are `store_name`, the vendor's store, and `seller`,
    who is the seller on the invoice: the operator or the vendor.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    buyer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="orders")
    listing = models.ForeignKey(Listing, on_delete=models.PROTECT, related_name="orders")
    tier = models.ForeignKey(LicenseTier, on_delete=models.PROTECT, related_name="+")
    terms = models.ForeignKey(LicenseTerms, on_delete=models.PROTECT, related_name="+", db_index=False)
    title = models.CharField(max_length=catalog_bounds.TITLE_CHARS)
    store_name = models.CharField(max_length=core_bounds.NAME_CHARS)
    license_slug = models.CharField(max_length=40)
    license_name = models.CharField(max_length=core_bounds.NAME_CHARS)
    deliverable = models.ForeignKey(Deliverable, on_delete=models.PROTECT, related_name="+")
    version = models.CharField(max_length=catalog_bounds.VERSION_CHARS, blank=True)
    currency = models.CharField(max_length=3, choices=[(code, code) for code in CURRENCIES])
    price_minor = models.BigIntegerField()
    tax_rate_bp = models.PositiveIntegerField()
    tax_minor = models.BigIntegerField()
    tax_treatment = models.CharField(max_length=16, choices=Treatment.choices, default=Treatment.LISTING)
    # The seller of record, who issues the invoice; empty if there was none.
    seller = models.ForeignKey(Seller, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    # The buyer's at the time of the sale; empty if there were none.
    buyer_details = models.ForeignKey(BillingDetails, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    # What was taken off the list price: by a discount, with the code that was given even if a larger discount applied, and for the licence
    # that this one replaces.
    discount_minor = models.BigIntegerField(default=0)
    discount_code = models.CharField(max_length=catalog_bounds.DISCOUNT_CODE_CHARS, blank=True)
    upgraded_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="upgrades", db_index=False)
    upgrade_credit_minor = models.BigIntegerField(default=0)
    commission_minor = models.BigIntegerField()
    vendor_share_minor = models.BigIntegerField()
    # The credential that bought it; empty for the checkout page. The app is empty for a user's own token too.
    app = models.ForeignKey(App, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    credential_kind = models.CharField(max_length=16, blank=True)
    credential_id = models.UUIDField(null=True, blank=True)
    # The first of the tokens that were rotated one from another, which share their spending limits.
    spender_id = models.UUIDField(null=True, blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    # What the buyer agreed to about the delivery, at the checkout; empty for a purchase by an app or a token.
    consent_version = models.CharField(max_length=bounds.DELIVERY_CONSENT_VERSION_CHARS, blank=True)
    consent_text = models.CharField(max_length=bounds.DELIVERY_CONSENT_CHARS, blank=True)
    # The quote that fixed the price; it is valid for one order.
    quote = models.ForeignKey(Quote, null=True, blank=True, on_delete=models.PROTECT, related_name="orders", db_index=False)
    status = models.CharField(max_length=16, choices=OrderStatus.choices, default=OrderStatus.COMPLETED)
    created_at = models.DateTimeField(default=timezone.now)
    refunded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        permissions = (
            ("refund_order", "Can refund orders"),
            ("pay_unclaimed_order", "Can pay refunds owed to deleted accounts"),
            ("export_evidence_order", "Can download the evidence of orders"),
        )
        constraints = (
            models.UniqueConstraint(fields=("quote",), name="order_quote_once"),
            models.CheckConstraint(condition=Q(currency__in=CURRENCIES), name="order_currency_known"),
            models.CheckConstraint(condition=Q(tax_treatment__in=Treatment.values), name="order_tax_treatment_known"),
            models.CheckConstraint(
                condition=Q(status__in=("Completed", "ChargedBack"), refunded_at__isnull=True)
                | Q(status="Refunded", refunded_at__isnull=False),
                name="order_status_matches_refund",
            ),
            models.CheckConstraint(
                condition=Q(tax_minor__gte=0, commission_minor__gte=0, vendor_share_minor__gte=0), name="order_parts_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(discount_minor__gte=0, upgrade_credit_minor=0)
                | Q(discount_minor__gte=0, upgrade_credit_minor__gt=0, upgraded_from__isnull=False),
                name="order_reductions_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(price_minor=F("tax_minor") + F("commission_minor") + F("vendor_share_minor")), name="order_parts_make_price"
            ),
        )
        indexes = (
            models.Index(fields=("buyer", "-created_at", "-id"), name="order_newest"),
            models.Index(fields=("buyer_details",), condition=Q(buyer_details__isnull=False), name="order_of_billing_details"),
            models.Index(fields=("upgraded_from",), condition=Q(upgraded_from__isnull=False), name="order_upgrade"),
            # For the amounts that an app or a token has spent.
            models.Index(
                fields=("buyer", "app", "currency", "created_at"),
                include=("price_minor",),
                condition=Q(app__isnull=False, status="Completed"),
                name="order_spent_by_app",
            ),
            models.Index(
                fields=("buyer", "spender_id", "currency", "created_at"),
                include=("price_minor",),
                condition=Q(spender_id__isnull=False, status="Completed"),
                name="order_spent_by_token",
            ),
        )

    def __str__(self) -> str:
        return self.title

    @property
    def upgrade_from(self) -> str:
        """The tier of the licence that this order replaces; empty if it is not an upgrade."""
        return "" if self.upgraded_from is None else self.upgraded_from.license_slug
