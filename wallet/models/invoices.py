"""Invoices and credit notes."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from marketplace.core.ids import new_id

from .. import bounds
from ..tax import Treatment
from .billing import BillingDetails, Seller
from .ledger import Journal
from .orders import Order
from .quotes import CURRENCIES


class InvoiceKind(models.TextChoices):
    """The kinds of document."""

    INVOICE = "invoice", "Invoice"
    CREDIT_NOTE = "credit_note", "Credit note"


class Invoice(models.Model):
    """The invoice of a sale, or the credit note of a refund or of a reversal that returned the payment, as it was issued. Append-only.

    A trigger refuses a number that does not follow the seller's last in the fiscal year (`wallet.triggers`).
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=16, choices=InvoiceKind.choices)
    seller = models.ForeignKey(Seller, on_delete=models.PROTECT, related_name="invoices", db_index=False)
    # The year in which it begins.
    fiscal_year = models.PositiveSmallIntegerField()
    sequence = models.PositiveIntegerField()
    number = models.CharField(max_length=bounds.INVOICE_NUMBER_CHARS)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="invoices", db_index=False)
    # Who sold it, whoever the seller of record is: the vendor's pages find the document by it.
    vendor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    # A reversal that returned the payment can end several purchases by one journal.
    journal = models.ForeignKey(Journal, on_delete=models.PROTECT, related_name="invoices")
    # The invoice that a credit note is for.
    corrects = models.OneToOneField("self", null=True, blank=True, on_delete=models.PROTECT, related_name="corrected_by")
    seller_details = models.ForeignKey(BillingDetails, on_delete=models.PROTECT, related_name="+")
    # Empty if the buyer had entered none: then only the name is known.
    buyer_details = models.ForeignKey(BillingDetails, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    buyer_name = models.CharField(max_length=bounds.BUYER_NAME_CHARS)
    description = models.CharField(max_length=bounds.INVOICE_LINE_CHARS)
    service_code = models.CharField(max_length=bounds.SERVICE_CODE_CHARS, blank=True)
    treatment = models.CharField(max_length=16, choices=Treatment.choices)
    # The place of supply; empty where the listing's rate applies.
    country = models.CharField(max_length=2, blank=True)
    region = models.CharField(max_length=bounds.REGION_CHARS, blank=True)
    currency = models.CharField(max_length=3, choices=[(code, code) for code in CURRENCIES])
    gross_minor = models.BigIntegerField()
    tax_minor = models.BigIntegerField()
    tax_rate_bp = models.PositiveIntegerField()
    # The tax in the currency of tax returns, if it is another and there is a rate of exchange.
    tax_currency = models.CharField(max_length=3, blank=True)
    exchange_rate = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    tax_in_tax_currency_minor = models.BigIntegerField(null=True, blank=True)
    # The day of the sale, refund or returned card payment, where the seller is.
    date = models.DateField()
    issued_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        permissions = (("export_invoice", "Can export invoices"),)
        constraints = (
            models.UniqueConstraint(fields=("seller", "fiscal_year", "sequence"), name="invoice_sequence_once"),
            models.UniqueConstraint(fields=("seller", "number"), name="invoice_number_once"),
            models.UniqueConstraint(fields=("order", "kind"), name="invoice_once_for_order"),
            models.CheckConstraint(condition=Q(currency__in=CURRENCIES), name="invoice_currency_known"),
            models.CheckConstraint(condition=Q(kind__in=InvoiceKind.values), name="invoice_kind_known"),
            models.CheckConstraint(condition=Q(treatment__in=Treatment.values), name="invoice_treatment_known"),
            models.CheckConstraint(
                condition=Q(kind="invoice", corrects__isnull=True) | Q(kind="credit_note", corrects__isnull=False),
                name="invoice_matches_kind",
            ),
            models.CheckConstraint(
                condition=Q(tax_minor__gte=0, gross_minor__gt=0, gross_minor__gte=F("tax_minor")), name="invoice_amounts"
            ),
            models.CheckConstraint(
                condition=Q(tax_currency="", exchange_rate__isnull=True, tax_in_tax_currency_minor__isnull=True)
                | Q(~Q(tax_currency=""), exchange_rate__isnull=False, tax_in_tax_currency_minor__isnull=False),
                name="invoice_exchange_complete",
            ),
        )
        indexes = (
            models.Index(fields=("date", "id"), name="invoice_by_date"),
            models.Index(fields=("-issued_at",), name="invoice_newest"),
            models.Index(fields=("vendor", "date"), name="invoice_of_vendor"),
        )

    def __str__(self) -> str:
        return self.number

    @property
    def credit_note(self) -> "Invoice | None":
        """The credit note of an invoice, None if there is none."""
        return getattr(self, "corrected_by", None)

    @property
    def net_minor(self) -> int:
        """The amount before tax."""
        return self.gross_minor - self.tax_minor
