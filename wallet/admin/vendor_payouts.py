"""Vendor payouts in the admin: batches are prepared, their file goes to the bank, and what became of each payout is recorded."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html

from marketplace.accounts.pages import problems_as_form_errors
from marketplace.core import audit
from marketplace.core.errors import Problem
from marketplace.http.refusals import allow_methods
from marketplace.review.decisions import Decision, NoForm, ReasonForm, decision, service_decision
from marketplace.review.panels import Panel
from marketplace.review.service import ServiceAdmin, staff_of
from marketplace.ui.formatting import money

from .. import bounds
from ..models import PayoutBatch, VendorPayout
from ..models.quotes import CURRENCIES
from ..models.vendor_payouts import BatchStatus, PayoutStatus
from ..payout_files import bank_file, paying_account
from ..selectors import due_sums, paid_by_currency, payouts, transfer_minor
from ..services import vendor_payouts as services
from ..services.former_vendors import has_left, keep_earnings, pay_former_vendor
from ..spreadsheets import HEADER, cells_of, csv_lines, store_of
from .csv_export import CsvExport
from .effects import former_vendor_effects
from .payout_preparation import PrepareForm

EXPORT = "wallet.export_vendorpayout"
EXPORT_BATCH = "wallet.export_payoutbatch"
PREPARE = "wallet.prepare_payoutbatch"
SETTLE = "wallet.settle_vendorpayout"
FORMER = "wallet.settle_former_vendor"
RUNS = 50
# Of a batch, on its page.
PAYOUTS_SHOWN = 100
# Names of vendors who are not paid, in a message.
NAMED = 20


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


class HandPayoutForm(ReasonForm):
    """The bank's reference of a payment, and how the recipient was verified."""

    reference = forms.CharField(
        max_length=bounds.PAYMENT_REFERENCE_CHARS, help_text="The number of the payment, such as that of a bank transfer."
    )
    field_order = ("reference", "reason")


@admin.register(VendorPayout)
class VendorPayoutAdmin(CsvExport, ServiceAdmin):
    """Payouts to vendors."""

    export_permission, export_name = EXPORT, "payouts.csv"

    list_display = ("at", "batch", "vendor", "store", "amount", "status")
    list_filter = ("status", RunFilter, CurrencyFilter, ("journal__at", admin.DateFieldListFilter))
    search_fields = ("batch__run", "account__owner__email", "account__owner__store__slug")
    ordering = ("-id",)
    list_template = "admin/wallet/payouts.html"
    fields = ("batch", "vendor", "store", "amount", "status", "reason", "journal", "returned")
    readonly_fields = ("vendor", "store", "amount")
    decision_names = ("pay", "bounce", "cancel", "pay_former_vendor", "keep_earnings")

    def get_queryset(self, request: HttpRequest) -> QuerySet[VendorPayout]:
        """Join journals, accounts and vendors."""
        return payouts()

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the sums of the filtered payouts, over all pages."""
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data is not None and "cl" in response.context_data:
            sums = paid_by_currency(response.context_data["cl"].queryset)
            response.context_data["paid"] = [money(amount, currency) for currency, amount in sorted(sums.items())]
        return response

    def export_lines(self, rows: Iterable[VendorPayout]) -> Iterator[str]:
        """Return the payouts with the endings of bank accounts, for which the export needs a permission of its own."""
        return csv_lines(("run", "at", *HEADER), map(_csv_row, rows))

    def panels(self, request: HttpRequest, subject: VendorPayout) -> list[Panel]:
        """Return nothing."""
        return []

    def name(self, subject: VendorPayout) -> str:
        """Return the store and the amount."""
        return f"{self.store(subject)}: {self.amount(subject)}"

    @admin.display(description="At", ordering="id")
    def at(self, payout: VendorPayout) -> Any:
        """Return the time of the payment."""
        return payout.journal.at

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

    pay_former_vendor = service_decision(
        Decision(
            "Record a payment by hand",
            FORMER,
            "The vendor left, and no run pays the earnings. You confirm that you paid all of them in another way.",
            "It is recorded as paid.",
            HandPayoutForm,
            available=lambda payout: has_left(payout=payout),
            effects=former_vendor_effects,
        ),
        pay_former_vendor,
        "payout",
        ("reference", "reason"),
    )

    keep_earnings = service_decision(
        Decision(
            "Keep the earnings",
            FORMER,
            "The vendor left, and the earnings cannot be paid. All of them become yours, in the ledger's account of commissions.",
            "The earnings are kept.",
            available=lambda payout: has_left(payout=payout),
            danger=True,
            effects=former_vendor_effects,
        ),
        keep_earnings,
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
    list_template = "admin/wallet/payout_batches.html"
    row_template = "admin/wallet/payout_batch.html"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow users who may prepare payouts, too."""
        return super().has_view_permission(request, obj) or staff_of(request).has_perm(PREPARE)

    def get_urls(self) -> Any:
        """Add the page that prepares payouts, and the file for the bank."""
        prepare = self.admin_site.admin_view(allow_methods("GET", "POST")(self.prepare))
        file = self.admin_site.admin_view(allow_methods("POST")(self.file))
        return [
            path("prepare/", prepare, name="wallet_payoutbatch_prepare"),
            path("<uuid:batch_id>/file/", file, name="wallet_payoutbatch_file"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Link to the page that prepares payouts."""
        prepare_url = reverse("admin:wallet_payoutbatch_prepare") if staff_of(request).has_perm(PREPARE) else ""
        return super().changelist_view(request, {**(extra_context or {}), "prepare_url": prepare_url})

    def prepare(self, request: HttpRequest) -> HttpResponse:
        """Ask for the terms of a run, show what is due, and prepare it once that is confirmed."""
        staff = staff_of(request)
        if not staff.has_perm(PREPARE):
            raise PermissionDenied
        form, due = PrepareForm(request.POST if request.method == "POST" else None), None
        if form.is_valid():
            terms = form.cleaned_data
            with problems_as_form_errors(form):
                services.check_run(run=terms["run"])
                if terms["rate"] is not None:
                    paying_account()
                if request.POST.get("confirmed"):
                    batch = services.open_batch(run=terms["run"], currency=terms["currency"], euro_rate=terms["rate"], actor=staff)
                    self._tell(request, services.prepare_batch(batch=batch, minimum_minor=form.minimum_minor, actor=staff))
                    return HttpResponseRedirect(self._address(batch))
                due = due_sums(currency=terms["currency"], minimum_minor=form.minimum_minor)
                if not due["count"]:
                    form.add_error(None, "Nothing is due.")
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Prepare payouts",
            "form": form,
            "terms": getattr(form, "cleaned_data", {}),
            "due": None if form.errors else due,
            "maximum": services.PREPARED_AT_ONCE,
            "back": reverse("admin:wallet_payoutbatch_changelist"),
        }
        status = 400 if form.errors else 200
        return TemplateResponse(request, "admin/wallet/prepare_payouts.html", context, status=status)

    def _tell(self, request: HttpRequest, outcome: services.PreparedBatch) -> None:
        """Tell how many payouts are prepared, and who is not paid."""
        self.message_user(request, f"{outcome.prepared} payouts are prepared.", messages.SUCCESS)
        if outcome.withheld:
            named = "; ".join(f"{store_of(account)}: {kept.reason.label}" for account, kept in outcome.withheld[:NAMED])
            more = len(outcome.withheld) - NAMED
            self.message_user(request, f"Not paid: {named}{f'; and {more} more' if more > 0 else ''}.", messages.WARNING)
        if outcome.remaining:
            self.message_user(request, f"{outcome.remaining} vendors are left: prepare the run again.", messages.WARNING)

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
