"""Serializers of billing details and invoices."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from django_countries.data import COUNTRIES
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.api.fields import Amount, Choice, Line
from marketplace.api.serializers import Body
from marketplace.core import bounds as core_bounds

from ... import bounds
from ...invoice_documents import tax_lines_of
from ...models import BillingDetails, Invoice
from ...models.quotes import CURRENCIES
from ...tax import TaxLine, Treatment

# The API's names of those fields of the service that it names differently.
API_NAMES = {"postal_code": "postalCode", "tax_id": "taxId"}


class BillingBody(Body):
    """The fields to change; the others keep their values."""

    ignored_fields = frozenset({"countryConfirmed"})

    name = Line(max_length=core_bounds.NAME_CHARS, required=False, help_text="The person or company that invoices are made out to.")
    street = Line(max_length=bounds.BILLING_LINE_CHARS, required=False, help_text="Street and number.")
    postalCode = Line(
        source="postal_code", max_length=bounds.POSTAL_CODE_CHARS, required=False, allow_blank=True, help_text="The postal code."
    )
    city = Line(max_length=bounds.BILLING_LINE_CHARS, required=False, help_text="The city.")
    region = Line(
        max_length=bounds.REGION_CHARS,
        required=False,
        allow_blank=True,
        help_text="The state or province; in India the two digits of the state's GST code, which are required.",
    )
    country = Choice(choices=sorted(COUNTRIES), required=False, help_text="The ISO 3166 code of the country, such as IN.")
    taxId = Line(
        source="tax_id",
        max_length=bounds.TAX_ID_CHARS,
        required=False,
        allow_blank=True,
        help_text="The GSTIN or VAT number of a business; format and checksum are checked.",
    )


class BillingResponse(serializers.Serializer[BillingDetails]):
    """The details on future invoices; empty if none were entered."""

    name = serializers.CharField(help_text="The person or company that invoices are made out to.")
    street = serializers.CharField(help_text="Street and number.")
    postalCode = serializers.CharField(source="postal_code", help_text="The postal code.")
    city = serializers.CharField(help_text="The city.")
    region = serializers.CharField(help_text="The state or province; in India the state's GST code.")
    country = serializers.CharField(help_text="The ISO 3166 code of the country.")
    taxId = serializers.CharField(source="tax_id", help_text="The GSTIN or VAT number, without separators.")
    countryConfirmed = serializers.SerializerMethodField(
        help_text="Whether they were entered on the account page by a connection from this country, which the tax of consumers abroad depends on."
    )

    def get_countryConfirmed(self, details: BillingDetails) -> bool:
        return bool(details.country) and details.connection_country == details.country


class InvoiceTaxLine(serializers.Serializer[TaxLine]):
    """A line of tax."""

    name = serializers.CharField(help_text="Such as IGST or VAT DE.")
    ratePercent = serializers.FloatField(source="rate_percent", help_text="The rate.")
    amount = Amount(source="amount_minor", help_text="In currency.")


class DocumentResponse(serializers.Serializer[Invoice]):
    """An invoice or credit note as it was issued."""

    number = serializers.CharField(help_text="Numbers have no gaps in a fiscal year of the seller.")
    date = serializers.DateField(help_text="The day of the sale, refund or returned card payment, where the seller is.")
    seller = serializers.CharField(source="seller_details.name", help_text="The seller of record.")
    sellerTaxId = serializers.CharField(source="seller_details.tax_id", help_text="The seller's tax id.")
    buyer = serializers.CharField(source="buyer_name", help_text="Whom it is made out to.")
    buyerTaxId = serializers.SerializerMethodField(help_text="The buyer's tax id; empty for a consumer.")
    description = serializers.CharField(help_text="What was sold.")
    treatment = serializers.ChoiceField(Treatment.choices, help_text="How it is taxed.")
    currency = serializers.ChoiceField(CURRENCIES)
    net = Amount(source="net_minor", help_text="Before tax.")
    taxLines = serializers.SerializerMethodField(help_text="The tax, line by line.")
    total = Amount(source="gross_minor", help_text="Tax included.")
    pdfUrl = serializers.SerializerMethodField(help_text="The document as a PDF; accepts the same credential.")

    def get_buyerTaxId(self, invoice: Invoice) -> str:
        return "" if invoice.buyer_details is None else invoice.buyer_details.tax_id

    @extend_schema_field(InvoiceTaxLine(many=True))
    def get_taxLines(self, invoice: Invoice) -> Any:
        return [InvoiceTaxLine(line).data for line in tax_lines_of(invoice)]

    def get_pdfUrl(self, invoice: Invoice) -> str:
        name = "order-invoice-pdf" if invoice.corrects_id is None else "order-credit-note-pdf"
        return settings.BASE_URL + reverse(name, args=[invoice.order_id])


class InvoiceResponse(DocumentResponse):
    """The invoice of a purchase."""

    creditNote = DocumentResponse(
        source="credit_note", allow_null=True, help_text="The credit note of the refund or returned card payment; null if there is none."
    )
