"""The ledger in the admin, read-only."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from marketplace.review.panels import Panel
from marketplace.review.service import ServiceAdmin
from marketplace.ui.formatting import money, when

from ..models import Journal, Transfer
from .lists import money_column


@admin.register(Journal)
class JournalAdmin(ServiceAdmin):
    """Each event that moved money."""

    list_display = ("at", "kind", "order", "actor", "reason")
    list_filter = ("kind",)
    list_select_related = ("order", "actor", "credit_reference")
    search_fields = ("request_id", "actor__email", "credit_reference__reference__icontains")
    search_help_text = "A whole email address or request id, or a part of a payment's reference"
    searches_whole_values = True
    fields = ("at", "kind", "order", "actor", "reason", "payment", "undoes", "request_id")
    readonly_fields = ("at", "payment")

    @admin.display(description="Payment", empty_value="none")
    def payment(self, journal: Journal) -> str | None:
        reference = getattr(journal, "credit_reference", None)
        return None if reference is None else str(reference)

    def panels(self, request: HttpRequest, subject: Journal) -> list[Panel]:
        transfers = Transfer.objects.filter(journal=subject).select_related("debit__owner", "credit__owner").order_by("id")
        rows = [(t.debit, t.debit.owner, t.credit, t.credit.owner, money(t.amount_minor, t.currency)) for t in transfers]
        return [Panel("Transfers", ("From", "Owner", "To", "Owner", "Amount"), rows)]


@admin.register(Transfer)
class TransferAdmin(ServiceAdmin):
    """Each amount that moved."""

    list_display = ("at", "kind", "debit", "credit", "amount")
    list_filter = ("currency", "journal__kind")
    search_fields = ("journal__request_id", "debit__owner__email", "credit__owner__email")
    search_help_text = "A whole email address or request id"
    searches_whole_values = True
    list_select_related = ("journal", "debit", "credit")
    has_history = False
    amount = money_column("Amount", "amount_minor")

    @admin.display(description="At")
    def at(self, transfer: Transfer) -> Any:
        return when(transfer.journal.at)

    @admin.display(description="Kind")
    def kind(self, transfer: Transfer) -> str:
        return transfer.journal.get_kind_display()
