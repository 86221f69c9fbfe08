"""Payouts to vendors in the admin, with their outcomes and an export as CSV."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet, Sum
from django.http import HttpRequest

from marketplace.review.decisions import Decision, DecisionForm, ReasonForm, service_decision
from marketplace.ui.formatting import money, when

from .. import bounds
from ..models import PayoutBatch, VendorPayout
from ..models.quotes import CURRENCIES
from ..models.vendor_payouts import PayoutStatus
from ..selectors import unpaid_earnings, vendor_payouts
from ..services import vendor_payouts as services
from ..services.former_vendors import can_be_settled_by_hand, keep_earnings, pay_former_vendor
from ..spreadsheets import PAYOUT_HEADER, csv_lines, payout_cells, store_slug_of
from .csv_export import CsvExportAdmin
from .lists import money_column

EXPORT = "wallet.export_vendorpayout"
SETTLE = "wallet.settle_vendorpayout"
SETTLE_FORMER = "wallet.settle_former_vendor"
RUNS = 50


class RunFilter(admin.SimpleListFilter):
    """Filters payouts by one of the newest runs."""

    title = "run"
    parameter_name = "run"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        runs = dict.fromkeys(PayoutBatch.objects.values_list("run", flat=True)[: RUNS * len(CURRENCIES)])
        return [(run, run) for run in list(runs)[:RUNS]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[VendorPayout]) -> QuerySet[VendorPayout]:
        return queryset.filter(batch__run=self.value()) if self.value() else queryset


class CurrencyFilter(admin.SimpleListFilter):
    """Filters by currency."""

    title = "currency"
    parameter_name = "currency"
    field_path = "account__currency"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, code) for code in CURRENCIES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.field_path: self.value()}) if self.value() else queryset


class ManualPayoutForm(ReasonForm):
    """The reference of a payment that was made by hand, and how the recipient was verified."""

    reference = forms.CharField(max_length=bounds.PAYMENT_REFERENCE_CHARS, help_text="The bank's reference for the payment.")
    field_order = ("reference", "reason")


def _all_earnings(payout: VendorPayout) -> str:
    return f"All earnings in the vendor's account, {money(unpaid_earnings(payout.account_id), payout.account.currency)}"


@admin.register(VendorPayout)
class VendorPayoutAdmin(CsvExportAdmin):
    """Payouts to vendors."""

    export_permission, export_filename = EXPORT, "payouts.csv"

    list_display = ("prepared_at", "batch", "vendor", "store", "amount", "status")
    list_filter = ("status", RunFilter, CurrencyFilter, ("journal__at", admin.DateFieldListFilter))
    search_fields = ("batch__run", "account__owner__email", "account__owner__store__slug")
    list_template = "admin/wallet/payouts.html"
    fields = ("batch", "vendor", "store", "amount", "status", "reason", "journal", "return_journal")
    readonly_fields = ("vendor", "store", "amount")
    amount = money_column("Amount", "amount_minor", "account.currency", ordering="-journal__vendor_net_minor")
    has_history = False
    decision_names = ("pay", "bounce", "cancel", "pay_former_vendor", "keep_earnings")

    def get_queryset(self, request: HttpRequest) -> QuerySet[VendorPayout]:
        return vendor_payouts()

    def list_context(self, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        """Show what the filtered payouts paid, over all pages."""
        paid = changelist.queryset.filter(status=PayoutStatus.PAID).order_by("account__currency").values("account__currency")
        sums = paid.annotate(paid=-Sum("journal__vendor_net_minor")).values_list("paid", "account__currency")
        return super().list_context(request, changelist) | {"paid": [money(amount, currency) for amount, currency in sums]}

    def export_lines(self, rows: Iterable[VendorPayout]) -> Iterator[str]:
        """Return the payouts with the endings of bank accounts, for which the export needs a permission of its own."""
        return csv_lines(PAYOUT_HEADER, map(payout_cells, rows))

    def name(self, subject: VendorPayout) -> str:
        return f"{self.store(subject)}: {self.amount(subject)}"

    @admin.display(description="Prepared", ordering="id")
    def prepared_at(self, payout: VendorPayout) -> Any:
        return when(payout.journal.at)

    @admin.display(description="Vendor", ordering="account__owner__email")
    def vendor(self, payout: VendorPayout) -> str:
        return "" if payout.account.owner is None else payout.account.owner.email

    @admin.display(description="Store", ordering="account__owner__store__slug")
    def store(self, payout: VendorPayout) -> str:
        return store_slug_of(payout.account)

    pay = service_decision(
        Decision(
            "Record as paid",
            SETTLE,
            "You confirm that the bank made the transfer. The vendor gets an email.",
            "It is recorded as paid.",
            DecisionForm,
            available=partial(services.VENDOR_PAYOUT_TRANSITIONS.allows, verb="pay"),
        ),
        services.mark_payout_paid,
        "payout",
    )

    bounce = service_decision(
        Decision(
            "Record as bounced",
            SETTLE,
            "The bank returned the transfer: the amount is in the vendor's balance again, and the vendor gets an email with your reason.",
            "It is recorded as bounced.",
            available=partial(services.VENDOR_PAYOUT_TRANSITIONS.allows, verb="bounce"),
            danger=True,
        ),
        services.bounce_payout,
        "payout",
    )

    cancel = service_decision(
        Decision(
            "Cancel",
            SETTLE,
            "It is not paid in this run, and the amount is in the vendor's balance again.",
            "It is cancelled.",
            available=partial(services.VENDOR_PAYOUT_TRANSITIONS.allows, verb="cancel"),
            danger=True,
        ),
        services.cancel_payout,
        "payout",
    )

    pay_former_vendor = service_decision(
        Decision(
            "Record a payment by hand",
            SETTLE_FORMER,
            "No run pays this vendor now: the store is suspended, or the account is deactivated or deleted. You confirm that you paid all earnings in another way.",
            "It is recorded as paid.",
            ManualPayoutForm,
            available=lambda payout: can_be_settled_by_hand(payout=payout),
            effects=lambda payout: [f"{_all_earnings(payout)}, count as paid to the vendor."],
        ),
        pay_former_vendor,
        "payout",
    )

    keep_earnings = service_decision(
        Decision(
            "Keep the earnings",
            SETTLE_FORMER,
            "No run pays this vendor now: the store is suspended, or the account is deactivated or deleted. A suspended store may still be reinstated. All earnings become the marketplace's, in the ledger's account of commissions.",
            "The earnings are kept.",
            available=lambda payout: can_be_settled_by_hand(payout=payout),
            danger=True,
            effects=lambda payout: [f"{_all_earnings(payout)}, become the marketplace's."],
        ),
        keep_earnings,
        "payout",
    )
