"""Billing details, the sellers of record, and the rates that the operator enters."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.core import bounds as core_bounds
from marketplace.core.ids import new_id

from .. import bounds
from .quotes import CURRENCIES


class Logo(models.Model):
    """The logo on a seller's invoices, as a JPEG that the inspection process encoded."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Empty for the operator.
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    image = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.id)


class BillingDetails(models.Model):
    """The name and address of a person or company on invoices.

    A change adds a row, because invoices refer to the earlier ones; a trigger prevents other changes (`wallet.triggers`).
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Empty for the operator.
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="billing_details")
    current = models.BooleanField(default=True)
    name = models.CharField(max_length=core_bounds.NAME_CHARS)
    street = models.CharField(max_length=bounds.BILLING_LINE_CHARS)
    postal_code = models.CharField(max_length=bounds.POSTAL_CODE_CHARS, blank=True)
    city = models.CharField(max_length=bounds.BILLING_LINE_CHARS)
    # In India the code of the state; elsewhere any text.
    region = models.CharField(max_length=bounds.REGION_CHARS, blank=True)
    country = models.CharField(max_length=2)
    tax_id = models.CharField(max_length=bounds.TAX_ID_CHARS, blank=True)
    logo = models.ForeignKey(Logo, null=True, blank=True, on_delete=models.PROTECT, related_name="details")
    # The country of the connection by which the owner entered them on our page, if a proxy tells it.
    connection_country = models.CharField(max_length=2, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "billing details"
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("owner",), condition=Q(current=True, owner__isnull=False), name="billingdetails_one_current"),
            models.UniqueConstraint(
                fields=("current",), condition=Q(current=True, owner__isnull=True), name="billingdetails_one_of_operator"
            ),
            models.CheckConstraint(condition=~Q(name="") & ~Q(street="") & ~Q(city="") & ~Q(country=""), name="billingdetails_complete"),
        )

    def __str__(self) -> str:
        return self.name


class Seller(models.Model):
    """A seller of record, who issues the invoices: the operator, or a vendor for their own listings."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Empty for the operator.
    vendor = models.OneToOneField(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="seller")
    details = models.ForeignKey(BillingDetails, on_delete=models.PROTECT, related_name="+")
    is_active = models.BooleanField(
        default=True, help_text="Sales from now on are this seller's. While it is off for a vendor, their sales are the operator's."
    )
    number_pattern = models.CharField(
        max_length=bounds.NUMBER_PATTERN_CHARS,
        default="INV/{year}/{number}",
        help_text="{year} is the fiscal year, such as 26-27, {number} the number in it. The rest may be letters, digits, - and /. "
        f"A number has at most {bounds.INVOICE_NUMBER_CHARS} characters.",
    )
    fiscal_year_month = models.PositiveSmallIntegerField(default=1, help_text="The month in which the fiscal year begins: 4 in India.")
    time_zone = models.CharField(max_length=40, default="UTC", help_text="The time zone of dates and fiscal years, such as Asia/Kolkata.")
    tax_currency = models.CharField(
        max_length=3,
        blank=True,
        help_text="The currency of tax returns, such as EUR or INR. Tax is shown in it too, by the rates of exchange.",
    )
    service_code = models.CharField(
        max_length=bounds.SERVICE_CODE_CHARS, blank=True, help_text="The code of the service on invoices, in India the SAC."
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("is_active",), condition=Q(vendor__isnull=True, is_active=True), name="seller_one_operator"),
            models.CheckConstraint(condition=Q(fiscal_year_month__gte=1, fiscal_year_month__lte=12), name="seller_month_known"),
        )

    def __str__(self) -> str:
        return str(self.details)


class TaxRate(models.Model):
    """A rate of tax in a country or region; the newest that is in force on a day applies."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    country = models.CharField(max_length=2, help_text="The code of the country, such as DE.")
    region = models.CharField(
        max_length=bounds.REGION_CHARS, blank=True, help_text="The region if it has a rate of its own; in India the code of the state."
    )
    rate_bp = models.PositiveIntegerField("rate in basis points", help_text="1900 is 19 %. In India the whole of CGST and SGST.")
    valid_from = models.DateField()
    valid_to = models.DateField(null=True, blank=True, help_text="The last day; empty if there is none yet.")

    class Meta:
        ordering = ("country", "region", "-valid_from")
        constraints = (
            models.UniqueConstraint(fields=("country", "region", "valid_from"), name="taxrate_once_a_day"),
            models.CheckConstraint(condition=Q(rate_bp__lte=core_bounds.WHOLE_BP), name="taxrate_range"),
            models.CheckConstraint(condition=Q(valid_to__isnull=True) | Q(valid_to__gte=models.F("valid_from")), name="taxrate_lasts"),
        )

    def __str__(self) -> str:
        return f"{self.country} {self.region} {self.rate_bp / 100:g} %"


class ExchangeRate(models.Model):
    """The rate of exchange of a currency to a tax currency, from a day on."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    currency = models.CharField(max_length=3, choices=[(code, code) for code in CURRENCIES])
    tax_currency = models.CharField(max_length=3, help_text="Such as EUR.")
    rate = models.DecimalField(max_digits=14, decimal_places=6, help_text="How many units of the tax currency one unit of the currency is.")
    valid_from = models.DateField()

    class Meta:
        ordering = ("currency", "tax_currency", "-valid_from")
        constraints = (
            models.UniqueConstraint(fields=("currency", "tax_currency", "valid_from"), name="exchangerate_once_a_day"),
            models.CheckConstraint(condition=Q(currency__in=CURRENCIES), name="exchangerate_currency_known"),
            models.CheckConstraint(condition=Q(rate__gt=0), name="exchangerate_positive"),
        )

    def __str__(self) -> str:
        return f"1 {self.currency} = {self.rate:f} {self.tax_currency}"
