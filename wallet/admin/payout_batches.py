"""Payout batches in the admin: prepared, exported as a file for the bank, recorded as paid, or cancelled."""

from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html

from marketplace.accounts.pages import posted, problems_as_form_errors
from marketplace.core.errors import Problem
from marketplace.core.money import to_minor
from marketplace.http.refusals import allow_methods
from marketplace.review.decisions import Decision, DecisionForm, service_decision
from marketplace.review.panels import Panel
from marketplace.review.service import ServiceAdmin, staff_of
from marketplace.storage.responses import attachment
from marketplace.ui.formatting import money

from .. import bounds
from ..models import PayoutBatch
from ..models.quotes import CURRENCIES
from ..models.vendor_payouts import BatchStatus, PayoutStatus
from ..payout_files import paying_account
from ..selectors import due_sums, vendor_payouts
from ..services import vendor_payouts as services
from ..services.payout_batches import PREPARED_AT_ONCE, PreparedBatch, prepare_batch
from ..spreadsheets import store_slug_of
from .vendor_payouts import SETTLE

EXPORT_BATCH = "wallet.export_payoutbatch"
PREPARE = "wallet.prepare_payoutbatch"
# The most payouts of a batch on its page.
PAYOUTS_SHOWN = 100
# The most vendors who are not paid that a message names.
MOST_NAMED = 20


class PrepareForm(forms.Form):
    """The terms of a run."""

    run = forms.CharField(max_length=bounds.PAYOUT_RUN_CHARS, help_text="A name, such as 2026-11. The same name again continues the run.")
    currency = forms.ChoiceField(choices=[(code, code) for code in CURRENCIES], help_text="The currency of the earnings.")
    minimum = forms.DecimalField(
        min_value=Decimal("0.01"),
        max_value=bounds.MAX_CREDIT_MINOR // 100,
        max_digits=14,
        decimal_places=2,
        initial=lambda: settings.PAYOUT_MINIMUM,
        help_text="Smaller balances wait.",
    )
    euro_rate = forms.DecimalField(
        required=False,
        min_value=Decimal("0.000001"),
        max_value=services.MAXIMUM_RATE,
        max_digits=12,
        decimal_places=6,
        help_text="To pay in EUR by SEPA: how many EUR one unit of the currency is worth. If empty, payouts are in the currency of the earnings.",
    )

    @property
    def minimum_minor(self) -> int:
        return to_minor(self.cleaned_data["minimum"])


@admin.register(PayoutBatch)
class PayoutBatchAdmin(ServiceAdmin):
    """Payout batches: export the file for the bank, record that it is paid, or cancel."""

    list_display = ("created_at", "run", "currency", "transfer_currency", "status", "exported_at", "exported_by")
    list_filter = ("status", "currency")
    list_select_related = ("exported_by",)
    search_fields = ("run",)
    decision_names = ("export", "pay", "cancel")
    list_template = "admin/wallet/payout_batches.html"
    row_template = "admin/wallet/payout_batch.html"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_view_permission(request, obj) or staff_of(request).has_perm(PREPARE)

    def get_urls(self) -> Any:
        prepare = self.admin_site.admin_view(allow_methods("GET", "POST")(self.prepare))
        file = self.admin_site.admin_view(allow_methods("POST")(self.file))
        return [
            path("prepare/", prepare, name="wallet_payoutbatch_prepare"),
            path("<uuid:batch_id>/file/", file, name="wallet_payoutbatch_file"),
            *super().get_urls(),
        ]

    def list_context(self, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        prepare_url = reverse("admin:wallet_payoutbatch_prepare") if staff_of(request).has_perm(PREPARE) else ""
        return super().list_context(request, changelist) | {"prepare_url": prepare_url}

    def prepare(self, request: HttpRequest) -> HttpResponse:
        """Ask for the terms of a run, show what is due, and prepare it once that is confirmed."""
        staff = staff_of(request)
        if not staff.has_perm(PREPARE):
            raise PermissionDenied
        form, due = PrepareForm(posted(request)), None
        if form.is_valid():
            terms = form.cleaned_data
            with problems_as_form_errors(form):
                services.check_run(run=terms["run"])
                if terms["euro_rate"] is not None:
                    paying_account()
                if request.POST.get("confirmed"):
                    batch = services.open_batch(run=terms["run"], currency=terms["currency"], euro_rate=terms["euro_rate"], actor=staff)
                    self._tell(request, prepare_batch(batch=batch, minimum_minor=form.minimum_minor, actor=staff))
                    return HttpResponseRedirect(self._page_url("change", batch))
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
            "maximum": PREPARED_AT_ONCE,
            "back": reverse("admin:wallet_payoutbatch_changelist"),
        }
        status = 400 if form.errors else 200
        return TemplateResponse(request, "admin/wallet/prepare_payouts.html", context, status=status)

    def _tell(self, request: HttpRequest, outcome: PreparedBatch) -> None:
        """Tell how many payouts are prepared, and who is not paid."""
        self.message_user(request, f"Prepared payouts: {outcome.prepared}.", messages.SUCCESS)
        if outcome.skipped:
            named = "; ".join(f"{store_slug_of(account)}: {skipped.reason.label}" for account, skipped in outcome.skipped[:MOST_NAMED])
            more = len(outcome.skipped) - MOST_NAMED
            self.message_user(request, f"Not paid: {named}{f'; and {more} more' if more > 0 else ''}.", messages.WARNING)
        if outcome.remaining:
            self.message_user(
                request,
                f"More vendors who can be paid: {outcome.remaining}. Prepare the run again to include them.",
                messages.WARNING,
            )

    def file(self, request: HttpRequest, batch_id: Any) -> HttpResponse:
        """Return the file for the bank. It has vendors' bank accounts, so it needs a permission of its own, and each download is recorded."""
        staff = staff_of(request)
        if not staff.has_perm(EXPORT_BATCH):
            raise PermissionDenied
        batch = get_object_or_404(PayoutBatch, pk=batch_id)
        try:
            made = services.download_bank_file(batch=batch, actor=staff)
        except Problem as problem:
            self.message_user(request, problem.message, messages.ERROR)
            return self._back(request, batch)
        headers = attachment(made.name) | {"Cache-Control": "private, no-store"}
        return HttpResponse(made.content, content_type=made.content_type, headers=headers)

    def panels(self, request: HttpRequest, subject: PayoutBatch) -> list[Panel]:
        """Show the newest payouts, without bank accounts, then the history."""
        rows = [
            (
                format_html(
                    '<a href="{}">{}</a>', reverse("admin:wallet_vendorpayout_change", args=[each.pk]), store_slug_of(each.account)
                ),
                money(each.amount_minor, subject.currency),
                money(subject.transfer_minor(each.amount_minor), subject.transfer_currency),
                each.status,
            )
            for each in vendor_payouts().filter(batch=subject)[:PAYOUTS_SHOWN]
        ]
        return [Panel("Payouts", ("Store", "Amount", "Transfer", "Status"), rows), *super().panels(request, subject)]

    def page_context(self, request: HttpRequest, subject: PayoutBatch) -> dict[str, Any]:
        can_download = subject.status == BatchStatus.EXPORTED and staff_of(request).has_perm(EXPORT_BATCH)
        file_url = reverse("admin:wallet_payoutbatch_file", args=[subject.pk]) if can_download else ""
        payouts_url = f"{reverse('admin:wallet_vendorpayout_changelist')}?{urlencode({'run': subject.run, 'currency': subject.currency})}"
        shown = {"file_url": file_url, "payouts_url": payouts_url, "count": subject.payouts.count()}
        return super().page_context(request, subject) | shown

    export = service_decision(
        Decision(
            "Export",
            EXPORT_BATCH,
            "The batch is closed, and you can download its file for the bank. Payouts that can no longer be made are cancelled.",
            "It is exported. Download its file.",
            DecisionForm,
            available=partial(services.BATCH_TRANSITIONS.allows, verb="export"),
        ),
        services.export_batch,
        "batch",
    )

    pay = service_decision(
        Decision(
            "Record as paid",
            SETTLE,
            "You confirm that the bank made every transfer that is not recorded yet. The vendors get an email.",
            "Its payouts are recorded as paid.",
            DecisionForm,
            available=lambda batch: batch.payouts.filter(status=PayoutStatus.EXPORTED).exists(),
        ),
        services.mark_batch_paid,
        "batch",
    )

    cancel = service_decision(
        Decision(
            "Cancel",
            SETTLE,
            "None of it is paid, and the amounts are in the vendors' balances again.",
            "It is cancelled.",
            available=partial(services.BATCH_TRANSITIONS.allows, verb="cancel"),
            danger=True,
        ),
        services.cancel_batch,
        "batch",
    )
