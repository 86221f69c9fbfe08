"""Vendor payouts in the admin, by run, with sums and a CSV export. `manage.py payout` makes them."""

import csv
from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse

from marketplace.http.refusals import allow_methods
from marketplace.review.panels import Panel
from marketplace.review.service import ServiceAdmin, staff_of
from marketplace.ui.formatting import money

from ..models import VendorPayout
from ..models.quotes import CURRENCIES
from ..selectors import paid_by_currency, payouts
from ..spreadsheets import HEADER, line_of

EXPORT = "wallet.export_vendorpayout"
RUNS = 50
CHUNK = 500


class RunFilter(admin.SimpleListFilter):
    """Filters payouts by one of the newest runs."""

    title = "run"
    parameter_name = "run"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the newest runs."""
        runs = dict.fromkeys(VendorPayout.objects.order_by("-id").values_list("run", flat=True)[: RUNS * 10])
        return [(run, run) for run in list(runs)[:RUNS]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[VendorPayout]) -> QuerySet[VendorPayout]:
        """Filter by the choice."""
        return queryset.filter(run=self.value()) if self.value() else queryset


class CurrencyFilter(admin.SimpleListFilter):
    """One currency."""

    title = "currency"
    parameter_name = "currency"
    path = "account__currency"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the currencies of wallets."""
        return [(code, code) for code in CURRENCIES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Filter by the choice."""
        return queryset.filter(**{self.path: self.value()}) if self.value() else queryset


class Echo:
    """A file-like object for the csv module that returns each line."""

    def write(self, line: str) -> str:
        """Return the line."""
        return line


@admin.register(VendorPayout)
class VendorPayoutAdmin(ServiceAdmin):
    """Payouts to vendors."""

    list_display = ("at", "run", "vendor", "store", "amount")
    list_filter = (RunFilter, CurrencyFilter, ("journal__at", admin.DateFieldListFilter))
    search_fields = ("run", "account__owner__email", "account__owner__store__slug")
    ordering = ("-id",)
    list_template = "admin/wallet/payouts.html"
    fields = ("run", "vendor", "store", "amount", "journal")
    readonly_fields = ("vendor", "store", "amount")

    def get_queryset(self, request: HttpRequest) -> QuerySet[VendorPayout]:
        """Join journals, accounts and vendors."""
        return payouts()

    def get_urls(self) -> Any:
        """Add the CSV export."""
        export = self.admin_site.admin_view(allow_methods("GET")(self.export))
        return [path("export.csv", export, name="wallet_vendorpayout_export"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the sums of the filtered payouts, over all pages."""
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data is not None and "cl" in response.context_data:
            sums = paid_by_currency(response.context_data["cl"].queryset)
            response.context_data["paid"] = [money(amount, currency) for currency, amount in sorted(sums.items())]
            if staff_of(request).has_perm(EXPORT):
                query = request.GET.urlencode()
                response.context_data["export_url"] = reverse("admin:wallet_vendorpayout_export") + (f"?{query}" if query else "")
        return response

    def export(self, request: HttpRequest) -> HttpResponseBase:
        """Stream the filtered payouts as CSV. It needs its own permission, because payout methods are bank details."""
        if not staff_of(request).has_perm(EXPORT) or not self.has_view_permission(request):
            raise PermissionDenied
        try:
            rows = self.get_changelist_instance(request).queryset
        except IncorrectLookupParameters as error:
            message = "no filter takes this"
            raise SuspiciousOperation(message) from error
        headers = {"Content-Disposition": 'attachment; filename="payouts.csv"'}
        return StreamingHttpResponse(_rows(rows.iterator(chunk_size=CHUNK)), content_type="text/csv; charset=utf-8", headers=headers)

    def panels(self, request: HttpRequest, subject: VendorPayout) -> list[Panel]:
        """Return nothing."""
        return []

    @admin.display(description="At", ordering="id")
    def at(self, payout: VendorPayout) -> Any:
        """Return the time of the payment."""
        return payout.journal.at

    @admin.display(description="Vendor", ordering="account__owner__email")
    def vendor(self, payout: VendorPayout) -> str:
        """Return the vendor's address."""
        return line_of(payout).vendor

    @admin.display(description="Store", ordering="account__owner__store__slug")
    def store(self, payout: VendorPayout) -> str:
        """Return the vendor's store."""
        return line_of(payout).store

    @admin.display(description="Amount", ordering="-journal__vendor_net_minor")
    def amount(self, payout: VendorPayout) -> str:
        """Return the amount with its currency."""
        return money(payout.amount_minor, payout.account.currency)


def _rows(rows: Iterable[VendorPayout]) -> Iterator[str]:
    sheet = csv.writer(Echo(), lineterminator="\n")
    yield sheet.writerow(("run", "at", *HEADER))
    for payout in rows:
        yield sheet.writerow((payout.run, payout.journal.at.isoformat(), *line_of(payout).cells()))
