"""Money in the admin: credit a wallet, refund an order; the rest is looked at."""

import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminDecimalFieldWidget, UnfoldAdminSelectWidget

from marketplace.accounts.models import User
from marketplace.core import bounds
from marketplace.core.admin import Decision, Panel, ReasonForm, ServiceAdmin, decision, history_panel
from marketplace.core.money import to_minor, to_number

from .models import Journal, LedgerAccount, Order, Transfer, WalletOwner
from .models.currencies import CURRENCIES
from .models.orders import OrderStatus
from .selectors import accounts_of, movements_of, wallet_of
from .services.funding import credit_wallet
from .services.refunds import refund_order

CREDIT = "wallet.credit_wallet"
REFUND = "wallet.refund_order"
MOVEMENT_ROWS = 50


def _money(amount_minor: int, currency: str) -> str:
    return f"{to_number(amount_minor):,.2f} {currency}"


def _movements(account: LedgerAccount) -> list[tuple[Any, ...]]:
    return [
        (
            f"{journal.at:%Y-%m-%d %H:%M}",
            journal.kind,
            _money(journal.wallet_net_minor or 0, account.currency),
            _money(journal.wallet_balance_minor or 0, account.currency),
            journal.reason,
            journal.actor,
        )
        for journal in movements_of(account).select_related("actor")[:MOVEMENT_ROWS]
    ]


class CreditForm(ReasonForm):
    """How much, and why. The hidden key makes a form that is sent twice one credit."""

    currency = forms.ChoiceField(choices=[(code, code) for code in CURRENCIES], widget=UnfoldAdminSelectWidget)
    amount = forms.DecimalField(
        min_value=Decimal("0.01"),
        max_value=bounds.CREDIT_MINOR // 100,
        max_digits=14,
        decimal_places=2,
        widget=UnfoldAdminDecimalFieldWidget,
    )
    key = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)
    field_order = ("currency", "amount", "reason", "key")


@admin.register(WalletOwner)
class WalletAdmin(ServiceAdmin):
    """Users and what their wallets hold."""

    list_display = ("email", "name", "date_joined")
    search_fields = ("email", "name")
    ordering = ("email",)
    fields = ("email", "name", "balance_inr", "balance_usd")
    readonly_fields = ("balance_inr", "balance_usd")
    actions_detail = ("credit",)

    @admin.display(description="INR balance")
    def balance_inr(self, owner: WalletOwner) -> str:
        """Return the INR balance."""
        return _money(wallet_of(owner).balance_inr_minor, "INR")

    @admin.display(description="USD balance")
    def balance_usd(self, owner: WalletOwner) -> str:
        """Return the USD balance."""
        return _money(wallet_of(owner).balance_usd_minor, "USD")

    def panels(self, request: HttpRequest, subject: Any) -> list[Panel]:
        """Show what moved the money."""
        return [
            Panel(f"Movements in {account.currency}", ("At (UTC)", "Kind", "Amount", "Balance after", "Reason", "Who"), _movements(account))
            for account in accounts_of(subject)
        ]

    @decision(
        Decision(
            "Credit wallet",
            CREDIT,
            "The amount is in the wallet at once and can be spent. The ledger keeps the reason for good.",
            "The wallet is credited.",
            CreditForm,
        )
    )
    def credit(self, owner: WalletOwner, actor: User, answers: Mapping[str, Any]) -> None:
        """Put credit into the user's wallet."""
        credit_wallet(
            user=owner,
            currency=answers["currency"],
            amount_minor=to_minor(answers["amount"]),
            reason=answers["reason"],
            actor=actor,
            idempotency_key=str(answers["key"]),
        )


@admin.register(Order)
class OrderAdmin(ServiceAdmin):
    """Purchases; a refund undoes one."""

    list_display = ("created_at", "buyer", "title", "license_slug", "price", "status")
    list_filter = ("status", "currency")
    list_select_related = ("buyer",)
    search_fields = ("buyer__email", "listing__slug", "title", "request_id")
    ordering = ("-id",)
    actions_detail = ("refund",)

    @admin.display(description="Price")
    def price(self, order: Order) -> str:
        """Return the price with its currency."""
        return _money(order.price_minor, order.currency)

    def panels(self, request: HttpRequest, subject: Any) -> list[Panel]:
        """Show the order's transfers, then its history."""
        transfers = Transfer.objects.filter(journal__order=subject).select_related("journal", "debit", "credit").order_by("id")
        rows = [
            (f"{t.journal.at:%Y-%m-%d %H:%M}", t.journal.kind, t.debit.kind, t.credit.kind, _money(t.amount_minor, t.currency))
            for t in transfers
        ]
        return [Panel("Transfers", ("At (UTC)", "Kind", "From", "To", "Amount"), rows), history_panel(subject)]

    @decision(
        Decision(
            "Refund",
            REFUND,
            "The price goes back into the buyer's wallet and the licence is revoked; download links stop at once.",
            "The order is refunded.",
            available=lambda order: order.status == OrderStatus.COMPLETED,
            variant=ActionVariant.DANGER,
        )
    )
    def refund(self, order: Order, actor: User, answers: Mapping[str, Any]) -> None:
        """Give the price back and take the licence back."""
        refund_order(order=order, reason=answers["reason"], actor=actor)


@admin.register(Journal)
class JournalAdmin(ServiceAdmin):
    """Each event that moved money."""

    list_display = ("at", "kind", "order", "actor", "reason")
    list_filter = ("kind",)
    list_select_related = ("order", "actor")
    search_fields = ("request_id", "actor__email")
    ordering = ("-id",)

    def panels(self, request: HttpRequest, subject: Any) -> list[Panel]:
        """Show the journal's transfers."""
        transfers = subject.transfers.select_related("debit__owner", "credit__owner").order_by("id")
        rows = [(t.debit, t.debit.owner, t.credit, t.credit.owner, _money(t.amount_minor, t.currency)) for t in transfers]
        return [Panel("Transfers", ("From", "Owner", "To", "Owner", "Amount"), rows)]


@admin.register(Transfer)
class TransferAdmin(ServiceAdmin):
    """Each amount that moved."""

    list_display = ("at", "kind", "debit", "credit", "amount")
    list_filter = ("currency", "journal__kind")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Transfer]:
        """Read the accounts and the journal with the transfers."""
        return super().get_queryset(request).select_related("journal", "debit", "credit")

    @admin.display(description="At")
    def at(self, transfer: Transfer) -> Any:
        """Return when it moved."""
        return transfer.journal.at

    @admin.display(description="Kind")
    def kind(self, transfer: Transfer) -> str:
        """Return why it moved."""
        return transfer.journal.kind

    @admin.display(description="Amount")
    def amount(self, transfer: Transfer) -> str:
        """Return the amount with its currency."""
        return _money(transfer.amount_minor, transfer.currency)

    def panels(self, request: HttpRequest, subject: Any) -> list[Panel]:
        """Show nothing more: the journal has the history."""
        return []
