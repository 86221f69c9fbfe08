"""Refund requests in the admin: those that vendors declined or did not answer are decided here."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from marketplace.review.decisions import CLAIMING, Decision, claiming, service_decision
from marketplace.review.panels import Panel
from marketplace.review.queues import QueueAdmin
from marketplace.review.search import SearchQuery

from ..models import RefundRequest
from ..models.refund_requests import RefundRequestStatus
from ..refund_facts import refund_facts
from ..services.refund_requests import grant_refund, refuse_refund
from ..services.refunds import REQUEST_TRANSITIONS
from .effects import refund_effects
from .lists import email_or_deleted, money_column

DECIDE = "wallet.decide_refundrequest"
# Vendors may refund earlier; staff decide only once the request is theirs.
_waits_for_staff = partial(REQUEST_TRANSITIONS.allows, verb="refuse")


@admin.register(RefundRequest)
class RefundRequestAdmin(QueueAdmin):
    """Requests of buyers for refunds."""

    waiting = {"status": RefundRequestStatus.IN_REVIEW}
    # Before, the vendor was asked.
    waiting_since = "escalated_at"
    list_display = ("asked_at", "title", "price", "reason", "status", "waiting_time", "claim_mark")
    list_filter = ("status", "reason")
    list_select_related = ("order__buyer", "order__quote", "order__listing__store", "claimed_by")
    search_fields = ("order__buyer__email", "order__title")
    fields = (
        *("title", "buyer", "vendor", "price", "status", "reason", "details", "asked_at", "answer_by"),
        *("answer", "answered_at", "objection", "escalated_at", "decision", "ended_at"),
    )
    readonly_fields = ("title", "buyer", "vendor", "price")
    decision_names = ("grant", "refuse", *CLAIMING)
    noun, review_permission = "refund_request", DECIDE
    page_decisions = {"grant": "a", "refuse": "r"}
    kept_parameters = ("status__exact", "reason__exact", "q")
    claim, take_over, release = claiming(DECIDE, _waits_for_staff)
    found_title, found_detail = "order__title", "status"
    price = money_column("Price", "order.price_minor", "order.currency")

    def name(self, subject: RefundRequest) -> str:
        return f"{self.title(subject)}, {self.price(subject)}"

    def find(self, query: SearchQuery) -> list[Q]:
        if query.id:
            return [Q(pk=query.id), Q(order=query.id)]
        return [Q(order__buyer__email=query.email)] if query.email else [Q(order__listing__slug=query.text)]

    def open_to(self, viewer: Any) -> QuerySet[Any]:
        """Leave out the viewer's own purchases and sales."""
        return super().open_to(viewer).exclude(Q(order__buyer=viewer) | Q(vendor=viewer))

    def is_own(self, row: Any, viewer: Any) -> bool:
        return viewer.pk in {row.order.buyer_id, row.vendor_id}

    @admin.display(description="Asset", ordering="order__title")
    def title(self, refund_request: RefundRequest) -> str:
        return refund_request.order.title

    @admin.display(description="Buyer")
    def buyer(self, refund_request: RefundRequest) -> str:
        return email_or_deleted(refund_request.order.buyer)

    @admin.display(description="Vendor")
    def vendor(self, refund_request: RefundRequest) -> str:
        return refund_request.order.listing.store.name

    def panels(self, request: HttpRequest, subject: RefundRequest) -> list[Panel]:
        facts = refund_facts(subject.order)
        downloads = [(f"{each.at:%Y-%m-%d %H:%M}", each.link.file_name, each.byte_range or "whole") for each in facts.downloads]
        return [
            Panel("Purchase", ("Fact", "Value"), facts.purchase),
            Panel(f"Downloads: {facts.download_count}", ("At (UTC)", "File", "Part"), downloads),
            *super().panels(request, subject),
        ]

    grant = service_decision(
        Decision(
            "Refund",
            DECIDE,
            "The price is returned, and the licence is revoked; download links stop working at once.",
            "The order was refunded.",
            available=_waits_for_staff,
            effects=lambda refund_request: refund_effects(refund_request.order),
        ),
        grant_refund,
        "refund_request",
    )

    refuse = service_decision(
        Decision(
            "Refuse",
            DECIDE,
            "Nothing is refunded. Buyer and vendor get an email with the reason; the buyer cannot ask again.",
            "It is refused.",
            available=_waits_for_staff,
            danger=True,
        ),
        refuse_refund,
        "refund_request",
    )
