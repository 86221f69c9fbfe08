"""Purchases in the admin: refund one."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from marketplace.accounts.models import User
from marketplace.core.admin import Decision, Panel, ServiceAdmin, Words, decision
from marketplace.core.db.combined import Fetched, QuerySets
from marketplace.core.wording import money

from ..models import Order, Transfer
from ..models.orders import OrderStatus
from ..services.refunds import refund_order
from .effects import refund_does

REFUND = "wallet.refund_order"


@admin.register(Order)
class OrderAdmin(ServiceAdmin):
    """Purchases; a refund undoes one."""

    list_display = ("created_at", "buyer", "title", "license_slug", "price", "status")
    list_filter = ("status", "currency")
    list_select_related = ("buyer",)
    search_fields = ("buyer__email", "listing__slug", "title", "request_id")
    ordering = ("-id",)
    decision_names = ("refund",)
    found_title, found_detail = "title", "status"

    def find(self, words: Words) -> list[Q]:
        """Look for an id, a buyer, a listing."""
        if words.id:
            return [Q(pk=words.id), Q(listing=words.id)]
        return [Q(buyer__email=words.email)] if words.email else [Q(listing__slug=words.text)]

    @admin.display(description="Price")
    def price(self, order: Order) -> str:
        """Return the price with its currency."""
        return money(order.price_minor, order.currency)

    def querysets(self, request: HttpRequest, subject: Order) -> QuerySets:
        """Return the order's transfers and its history."""
        transfers = Transfer.objects.filter(journal__order=subject).select_related("journal", "debit", "credit").order_by("id")
        return {**super().querysets(request, subject), "transfers": transfers}

    def panels(self, request: HttpRequest, subject: Order, fetched: Fetched) -> list[Panel]:
        """Show the order's transfers, then its history."""
        rows = [
            (f"{t.journal.at:%Y-%m-%d %H:%M}", t.journal.kind, t.debit.kind, t.credit.kind, money(t.amount_minor, t.currency))
            for t in fetched["transfers"]
        ]
        return [Panel("Transfers", ("At (UTC)", "Kind", "From", "To", "Amount"), rows), *super().panels(request, subject, fetched)]

    @decision(
        Decision(
            "Refund",
            REFUND,
            "The price goes back into the buyer's wallet and the licence is revoked; download links stop at once.",
            "The order is refunded.",
            available=lambda order: order.status == OrderStatus.COMPLETED,
            danger=True,
            foretell=refund_does,
        )
    )
    def refund(self, order: Order, actor: User, answers: Mapping[str, Any]) -> None:
        """Give the price back and take the licence back."""
        refund_order(order=order, reason=answers["reason"], actor=actor)
