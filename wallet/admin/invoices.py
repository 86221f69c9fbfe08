"""Invoices in the admin, read-only with a CSV export, and the data they are made from: sellers, rates of tax and of exchange."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalog.models import Store
from marketplace.accounts.pages import problems_as_form_errors
from marketplace.core.errors import Problem
from marketplace.http.refusals import allow_methods
from marketplace.review.base import EditableAdmin, ModelForm
from marketplace.review.panels import Panel
from marketplace.review.service import staff_of
from marketplace.ui.formatting import money

from ..address_form import AddressForm
from ..invoice_csv import invoice_csv_lines, parse_month
from ..invoice_documents import invoice_pdf_response, tax_lines_of
from ..models import ExchangeRate, Invoice, Seller, TaxRate
from ..selectors import invoices, invoices_of_month
from ..services.billing import BILLING_FIELDS, change_logo, clean_seller, save_seller
from ..services.tax_rates import clean_exchange_rate, clean_tax_rate, save_exchange_rate, save_tax_rate
from .csv_export import CsvExportAdmin
from .lists import money_column

EXPORT = "wallet.export_invoice"
MONTHS = 24


class MonthFilter(admin.SimpleListFilter):
    """Filters documents by one of the last months."""

    title = "month"
    parameter_name = "month"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        now = timezone.now()
        # Months are counted from the year 0.
        newest = now.year * 12 + now.month - 1
        months = [f"{number // 12}-{number % 12 + 1:02}" for number in range(newest, newest - MONTHS, -1)]
        return [(month, month) for month in months]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Invoice]) -> QuerySet[Invoice]:
        month = parse_month(self.value() or "")
        return queryset if month is None else queryset & invoices_of_month(month).order_by("-id")


@admin.register(Invoice)
class InvoiceAdmin(CsvExportAdmin):
    """Invoices and credit notes."""

    export_permission, export_filename = EXPORT, "invoices.csv"

    list_display = ("number", "kind", "date", "seller_name", "buyer_name", "total", "tax", "treatment")
    list_filter = (MonthFilter, "kind", "treatment", "currency")
    search_fields = ("number", "buyer_name")
    list_template = "admin/wallet/invoices.html"
    fields = ("number", "kind", "date", "issued_at", "seller_name", "buyer_name", "order", "corrects", "description", "total", "tax", "pdf")
    readonly_fields = ("seller_name", "total", "tax", "pdf")
    total = money_column("Total", "gross_minor", ordering="gross_minor")
    tax = money_column("Tax", "tax_minor", ordering="tax_minor")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invoice]:
        """Join what the list, the export and the PDF show."""
        return invoices().select_related("order__listing__store")

    def get_urls(self) -> Any:
        document = self.admin_site.admin_view(allow_methods("GET")(self.document))
        return [
            path("<uuid:object_id>/document.pdf", document, name="wallet_invoice_document"),
            *super().get_urls(),
        ]

    def export_lines(self, rows: Iterable[Invoice]) -> Iterator[str]:
        """Return the documents with the addresses of buyers, for which the export needs a permission of its own."""
        return invoice_csv_lines(rows)

    def document(self, request: HttpRequest, object_id: Any) -> HttpResponseBase:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return invoice_pdf_response(get_object_or_404(invoices(), pk=object_id))

    @admin.display(description="Seller", ordering="seller_details__name")
    def seller_name(self, invoice: Invoice) -> str:
        return invoice.seller_details.name

    @admin.display(description="Document")
    def pdf(self, invoice: Invoice) -> SafeString:
        return format_html('<a href="{}">PDF</a>', reverse("admin:wallet_invoice_document", args=[invoice.pk]))

    def panels(self, request: HttpRequest, subject: Invoice) -> list[Panel]:
        """Show the lines of tax; a document has no history."""
        rows = [(line.name, f"{line.rate_percent:g} %", money(line.amount_minor, subject.currency)) for line in tax_lines_of(subject)]
        return [Panel("Tax", ("Name", "Rate", "Amount"), rows)]


class SellerForm(AddressForm, ModelForm):
    """A seller of record. Only the operator's address is entered here; vendors enter their own."""

    store = forms.CharField(
        max_length=80, required=False, help_text="The slug of the store of a vendor who sells in their own name; empty for the operator."
    )

    logo = forms.FileField(
        required=False, help_text="On the invoices from now on: a JPG, PNG or WebP image of up to 400 KB. It is printed on white."
    )
    remove_logo = forms.BooleanField(required=False, label="Remove the logo")

    class Meta:
        model = Seller
        fields = ("is_active", "number_pattern", "fiscal_year_month", "time_zone", "tax_currency", "service_code")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding or self.instance.vendor_id:
            del self.fields["logo"], self.fields["remove_logo"]
        for name in BILLING_FIELDS:
            self.fields[name].required = False
            self.fields[name].initial = "" if self.instance._state.adding else getattr(self.instance.details, name)
        if not self.instance._state.adding:
            del self.fields["store"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        slug = cleaned.get("store", "")
        store = Store.objects.select_related("owner").filter(slug=slug).first() if slug else None
        if slug and store is None:
            self.add_error("store", "There is no such store.")
        elif store is not None:
            self.instance.vendor = store.owner
        if not self.errors:
            draft = Seller(pk=self.instance.pk, vendor=self.instance.vendor, **{name: cleaned[name] for name in SellerForm.Meta.fields})
            with problems_as_form_errors(self):
                clean_seller(seller=draft, details=self.details())
        return cleaned

    def details(self) -> dict[str, str]:
        """Return the billing details as the service takes them."""
        return {name: self.cleaned_data.get(name, "") for name in BILLING_FIELDS}


class RateForm(ModelForm):
    """A rate, validated by its service."""

    check: Callable[..., None]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors:
            rate = self._meta.model(**cleaned)
            with problems_as_form_errors(self):
                self.check(rate=rate)
                # The normalised values, by which Django finds another rate of the same day.
                cleaned = {name: getattr(rate, name) for name in cleaned}
        return cleaned


class TaxRateForm(RateForm):
    """A rate of tax."""

    check = staticmethod(clean_tax_rate)

    class Meta:
        model = TaxRate
        fields = ("country", "region", "rate_bp", "valid_from", "valid_to")


class ExchangeRateForm(RateForm):
    """A rate of exchange."""

    check = staticmethod(clean_exchange_rate)

    class Meta:
        model = ExchangeRate
        fields = ("currency", "tax_currency", "rate", "valid_from")


@admin.register(Seller)
class SellerAdmin(EditableAdmin):
    """The operator as the seller of record, and vendors who sell in their own name."""

    form = SellerForm
    fixed_fields = ()
    list_display = ("details", "vendor", "is_active", "number_pattern", "fiscal_year_month", "time_zone")
    list_filter = ("is_active",)
    search_fields = ("details__name", "vendor__email")
    list_select_related = ("details", "vendor")

    def get_fields(self, request: HttpRequest, obj: Seller | None = None) -> Any:
        """Return the fields; the address only where the operator's is entered."""
        if obj is None:
            return ("store", *BILLING_FIELDS, *SellerForm.Meta.fields)
        if obj.vendor_id:
            return SellerForm.Meta.fields
        return (*BILLING_FIELDS, *SellerForm.Meta.fields, "logo", "remove_logo")

    def save_model(self, request: HttpRequest, obj: Seller, form: SellerForm, change: bool) -> None:  # noqa: FBT001 - Django's signature
        logo, remove = form.cleaned_data.get("logo"), form.cleaned_data.get("remove_logo")
        save_seller(
            seller=obj, changed=[name for name in form.changed_data if "logo" not in name], details=form.details(), actor=staff_of(request)
        )
        if logo or remove:
            try:
                change_logo(user=None, image=logo.read() if logo else b"", actor=staff_of(request))
            except Problem as problem:
                self.message_user(request, f"The logo was not changed: {problem.message}", messages.ERROR)


class RateAdmin(EditableAdmin):
    """Rates, each from a day on, by which past sales were taxed or converted."""

    fixed_fields = ()
    # The browser's own calendar.
    formfield_overrides = {models.DateField: {"widget": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")}}


@admin.register(TaxRate)
class TaxRateAdmin(RateAdmin):
    """Rates of tax by country and region."""

    form = TaxRateForm
    saved_by = save_tax_rate, "rate"
    list_display = ("country", "region", "rate", "valid_from", "valid_to")
    list_filter = ("country",)
    search_fields = ("country", "region")

    @admin.display(description="Rate", ordering="rate_bp")
    def rate(self, tax_rate: TaxRate) -> str:
        return f"{tax_rate.rate_bp / 100:g} %"


@admin.register(ExchangeRate)
class ExchangeRateAdmin(RateAdmin):
    """Rates of exchange for the currency of tax returns."""

    form = ExchangeRateForm
    saved_by = save_exchange_rate, "rate"
    list_display = ("currency", "tax_currency", "rate", "valid_from")
    list_filter = ("currency",)
    search_fields = ("currency", "tax_currency")
