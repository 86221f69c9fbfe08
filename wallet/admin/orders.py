"""Purchases in the admin: refund one, pay a refund owed to a deleted account, or download the evidence."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import path, reverse

from marketplace.core import audit
from marketplace.http.refusals import allow_methods
from marketplace.review.decisions import Button, Decision, service_decision
from marketplace.review.panels import Panel
from marketplace.review.search import SearchQuery
from marketplace.review.service import ServiceAdmin, staff_of
from marketplace.ui.formatting import money

from ..evidence import Reader, evidence_response
from ..models import Order, Transfer
from ..models.orders import OrderStatus
from ..selectors import upgrade_of
from ..services.refunds import pay_unclaimed, refund_order
from ..unclaimed import unclaimed_refunds
from .effects import refund_effects, unclaimed_refund_effects
from .lists import OneChoiceFilter, email_or_deleted, money_column
from .vendor_payouts import ManualPayoutForm

REFUND = "wallet.refund_order"
PAY_UNCLAIMED = "wallet.pay_unclaimed_order"
EVIDENCE = "wallet.export_evidence_order"


class UnclaimedRefundFilter(OneChoiceFilter):
    """Filters orders by unclaimed refunds."""

    title = parameter_name = "refund"
    choice = ("unclaimed", "Refunds to pay out: the account is deleted")
    chosen_ids = staticmethod(lambda: unclaimed_refunds().values("pk"))


def _is_unclaimed(order: Order) -> bool:
    return order.buyer.deleted and unclaimed_refunds().filter(pk=order.pk).exists()


def _can_be_refunded(order: Order) -> bool:
    """Tell whether the purchase is neither refunded nor charged back, and was not upgraded."""
    return order.status == OrderStatus.COMPLETED and upgrade_of(order) is None


@admin.register(Order)
class OrderAdmin(ServiceAdmin):
    """Purchases, which can be refunded."""

    list_display = ("created_at", "buyer", "title", "license_slug", "price", "status")
    list_filter = ("status", "currency", UnclaimedRefundFilter)
    list_select_related = ("buyer", "upgraded_from")
    search_fields = ("buyer__email", "listing__slug", "title", "request_id")
    decision_names = ("refund", "pay_unclaimed")
    found_title, found_detail = "title", "status"
    price = money_column("Price", "price_minor")

    def name(self, subject: Order) -> str:
        return f"{email_or_deleted(subject.buyer)}: {subject.title}, {self.price(subject)}"

    def find(self, query: SearchQuery) -> list[Q]:
        if query.id:
            return [Q(pk=query.id), Q(listing=query.id)]
        return [Q(buyer__email=query.email)] if query.email else [Q(listing__slug=query.text)]

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view(allow_methods("GET")(self.evidence))
        return [path("<uuid:object_id>/evidence.json", view, name="wallet_order_evidence"), *super().get_urls()]

    def buttons(self, request: HttpRequest, subject: Order) -> list[Button]:
        link = Button("Evidence", reverse("admin:wallet_order_evidence", args=[subject.pk]), danger=False)
        return [*super().buttons(request, subject), *([link] if request.user.has_perm(EVIDENCE) else [])]

    def evidence(self, request: HttpRequest, object_id: Any) -> HttpResponseBase:
        """Return the signed evidence of an order as a JSON file. It needs its own permission, because it names the buyer."""
        staff = staff_of(request)
        if not staff.has_perm(EVIDENCE):
            raise PermissionDenied
        order = get_object_or_404(Order.objects.select_related("quote", "upgraded_from"), pk=object_id)
        audit.record("order.evidence", order, actor=staff)
        return evidence_response(order, Reader.STAFF)

    def panels(self, request: HttpRequest, subject: Order) -> list[Panel]:
        transfers = Transfer.objects.filter(journal__order=subject).select_related("journal", "debit", "credit").order_by("id")
        rows = [
            (f"{t.journal.at:%Y-%m-%d %H:%M}", t.journal.kind, t.debit.kind, t.credit.kind, money(t.amount_minor, t.currency))
            for t in transfers
        ]
        return [Panel("Transfers", ("At (UTC)", "Kind", "From", "To", "Amount"), rows), *super().panels(request, subject)]

    refund = service_decision(
        Decision(
            "Refund",
            REFUND,
            "The price is returned, and the licence is revoked; download links stop working at once.",
            "The order was refunded.",
            available=_can_be_refunded,
            danger=True,
            effects=refund_effects,
        ),
        refund_order,
        "order",
    )

    pay_unclaimed = service_decision(
        Decision(
            "Pay unclaimed refund",
            PAY_UNCLAIMED,
            "The buyer's account was deleted. Verify who claims the money, for example by the receipt, pay it, then record it here.",
            "The refund is paid.",
            ManualPayoutForm,
            available=_is_unclaimed,
            effects=unclaimed_refund_effects,
        ),
        pay_unclaimed,
        "order",
    )
