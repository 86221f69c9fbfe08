"""Vendor payouts in the admin: batches, their file for the bank, and what became of each payout. `manage.py payout` prepares them."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html

from marketplace.core import audit
from marketplace.core.errors import Problem
from marketplace.http.refusals import allow_methods
from marketplace.review.decisions import Decision, NoForm, decision, service_decision
from marketplace.review.panels import Panel
from marketplace.review.service import ServiceAdmin, staff_of
from marketplace.ui.formatting import money, when

from ..models import PayoutBatch, VendorPayout
from ..models.quotes import CURRENCIES
from ..models.vendor_payouts import BatchStatus, PayoutStatus
from ..payout_files import bank_file
from ..selectors import paid_by_currency, payouts, transfer_minor
from ..services import vendor_payouts as services
from ..spreadsheets import HEADER, cells_of, csv_lines, store_of

EXPORT = "wallet.export_vendorpayout"
EXPORT_BATCH = "wallet.export_payoutbatch"
SETTLE = "wallet.settle_vendorpayout"
RUNS = 50
# Of a batch, on its page.
PAYOUTS_SHOWN = 100
CHUNK = 500


class RunFilter(admin.SimpleListFilter):
    """Filters payouts by one of the newest runs."""

    title = "run"
    parameter_name = "run"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the newest runs."""
        runs = dict.fromkeys(PayoutBatch.objects.values_list("run", flat=True)[: RUNS * len(CURRENCIES)])
        return [(run, run) for run in list(runs)[:RUNS]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[VendorPayout]) -> QuerySet[VendorPayout]:
        """Filter by the choice."""
        return queryset.filter(batch__run=self.value()) if self.value() else queryset


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


@admin.register(VendorPayout)
class VendorPayoutAdmin(ServiceAdmin):
    """Payouts to vendors."""

    list_display = ("at", "batch", "vendor", "store", "amount", "status")
    list_filter = ("status", RunFilter, CurrencyFilter, ("journal__at", admin.DateFieldListFilter))
    search_fields = ("batch__run", "account__owner__email", "account__owner__store__slug")
    ordering = ("-id",)
    list_template = "admin/wallet/payouts.html"
    fields = ("batch", "vendor", "store", "amount", "status", "reason", "journal", "returned")
    readonly_fields = ("vendor", "store", "amount")
    decision_names = ("pay", "bounce", "cancel")

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
        lines = csv_lines(("run", "at", *HEADER), map(_csv_row, rows.iterator(chunk_size=CHUNK)))
        return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)

    def panels(self, request: HttpRequest, subject: VendorPayout) -> list[Panel]:
        """Return nothing."""
        return []

    def name(self, subject: VendorPayout) -> str:
        """Return the store and the amount."""
        return f"{self.store(subject)}: {self.amount(subject)}"

    @admin.display(description="At", ordering="id")
    def at(self, payout: VendorPayout) -> Any:
        """Return the time of the payment."""
        return when(payout.journal.at)

    @admin.display(description="Vendor", ordering="account__owner__email")
    def vendor(self, payout: VendorPayout) -> str:
        """Return the vendor's address."""
        return cells_of(payout)[0]

    @admin.display(description="Store", ordering="account__owner__store__slug")
    def store(self, payout: VendorPayout) -> str:
        """Return the vendor's store."""
        return store_of(payout.account)

    @admin.display(description="Amount", ordering="-journal__vendor_net_minor")
    def amount(self, payout: VendorPayout) -> str:
        """Return the amount with its currency."""
        return money(payout.amount_minor, payout.account.currency)

    pay = service_decision(
        Decision(
            "Record as paid",
            SETTLE,
            "You confirm that the bank made the transfer. The vendor gets a mail.",
            "It is recorded as paid.",
            NoForm,
            available=partial(services.PAYOUTS.allows, verb="pay"),
        ),
        services.mark_payout_paid,
        "payout",
        answers=(),
    )

    bounce = service_decision(
        Decision(
            "Record as bounced",
            SETTLE,
            "The bank returned the transfer: the amount is in the vendor's balance again, and the vendor gets a mail with your reason.",
            "It is recorded as bounced.",
            available=partial(services.PAYOUTS.allows, verb="bounce"),
            danger=True,
        ),
        services.bounce_payout,
        "payout",
    )

    cancel = service_decision(
        Decision(
            "Cancel",
            SETTLE,
            "It leaves the batch, and the amount is in the vendor's balance again.",
            "It is cancelled.",
            available=partial(services.PAYOUTS.allows, verb="cancel"),
            danger=True,
        ),
        services.cancel_payout,
        "payout",
    )


def _csv_row(payout: VendorPayout) -> tuple[str, ...]:
    return (payout.batch.run, payout.journal.at.isoformat(), *cells_of(payout))


@admin.register(PayoutBatch)
class PayoutBatchAdmin(ServiceAdmin):
    """Payout batches: export the file for the bank, record that it is paid, or cancel."""

    list_display = ("created_at", "run", "currency", "transfer_currency", "status", "exported_at", "exported_by")
    list_filter = ("status", "currency")
    list_select_related = ("exported_by",)
    search_fields = ("run",)
    ordering = ("-id",)
    decision_names = ("export", "pay", "cancel")
    row_template = "admin/wallet/payout_batch.html"

    def get_urls(self) -> Any:
        """Add the file for the bank."""
        file = self.admin_site.admin_view(allow_methods("POST")(self.file))
        return [path("<uuid:batch_id>/file/", file, name="wallet_payoutbatch_file"), *super().get_urls()]

    def file(self, request: HttpRequest, batch_id: Any) -> HttpResponse:
        """Return the file for the bank. It has bank details, so it needs a permission of its own, and each download is recorded."""
        staff = staff_of(request)
        if not staff.has_perm(EXPORT_BATCH):
            raise PermissionDenied
        batch = PayoutBatch.objects.filter(pk=batch_id).first()
        if batch is None:
            raise Http404
        try:
            made = bank_file(batch=batch)
        except Problem as problem:
            self.message_user(request, problem.message, messages.ERROR)
            return self._back(request, batch)
        audit.record("payout_batch.download", batch, actor=staff)
        headers = {"Content-Disposition": f'attachment; filename="{made.name}"', "Cache-Control": "private, no-store"}
        return HttpResponse(made.content, content_type=made.content_type, headers=headers)

    def panels(self, request: HttpRequest, subject: PayoutBatch) -> list[Panel]:
        """Show the newest payouts, without bank details, then the history."""
        rows = [
            (
                format_html('<a href="{}">{}</a>', reverse("admin:wallet_vendorpayout_change", args=[each.pk]), store_of(each.account)),
                money(each.amount_minor, subject.currency),
                money(transfer_minor(each.amount_minor, subject), subject.transfer_currency),
                each.status,
            )
            for each in payouts().filter(batch=subject)[:PAYOUTS_SHOWN]
        ]
        return [Panel("Payouts", ("Store", "Amount", "Transfer", "Status"), rows), *super().panels(request, subject)]

    def page_context(self, request: HttpRequest, subject: PayoutBatch) -> dict[str, Any]:
        """Add the link to all payouts, and the address of the file for users who may download it."""
        may = subject.status == BatchStatus.EXPORTED and staff_of(request).has_perm(EXPORT_BATCH)
        file_url = reverse("admin:wallet_payoutbatch_file", args=[subject.pk]) if may else ""
        payouts_url = f"{reverse('admin:wallet_vendorpayout_changelist')}?{urlencode({'run': subject.run, 'currency': subject.currency})}"
        more = {"file_url": file_url, "payouts_url": payouts_url, "count": subject.payouts.count()}
        return {**super().page_context(request, subject), **more}

    export = service_decision(
        Decision(
            "Export",
            EXPORT_BATCH,
            "The batch is closed, and you can download its file for the bank. Payouts that can no longer be made are cancelled.",
            "It is exported. Download its file.",
            NoForm,
            available=partial(services.BATCHES.allows, verb="export"),
        ),
        services.export_batch,
        "batch",
        answers=(),
    )

    @decision(
        Decision(
            "Record as paid",
            SETTLE,
            "You confirm that the bank made every transfer that is not recorded yet. The vendors get a mail.",
            "Its payouts are recorded as paid.",
            NoForm,
            available=lambda batch: batch.payouts.filter(status=PayoutStatus.EXPORTED).exists(),
        )
    )
    def pay(self, batch: PayoutBatch, actor: Any, answers: Mapping[str, Any]) -> None:
        """Record all exported payouts as paid."""
        services.mark_batch_paid(batch=batch, actor=actor)

    cancel = service_decision(
        Decision(
            "Cancel",
            SETTLE,
            "Nothing of it is paid, and the amounts are in the vendors' balances again.",
            "It is cancelled.",
            available=partial(services.BATCHES.allows, verb="cancel"),
            danger=True,
        ),
        services.cancel_batch,
        "batch",
    )
