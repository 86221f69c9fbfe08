"""Top-ups, disputes and refunds, and providers' events in the admin: read-only except for refunds to the card."""

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from marketplace.review.decisions import Decision, service_decision
from marketplace.review.panels import Panel
from marketplace.review.search import SearchQuery
from marketplace.review.service import ServiceAdmin
from marketplace.ui.formatting import money

from ..models import CardReversal, ProviderEvent, TopUp
from ..models.top_ups import TopUpStatus
from ..services.card_refunds import refund_top_up
from .lists import email_or_deleted, money_column

REFUND = "wallet.refund_topup"


@admin.register(TopUp)
class TopUpAdmin(ServiceAdmin):
    """Top-ups with the events of their provider."""

    list_display = ("created_at", "user", "amount", "provider", "status", "paid_at")
    list_filter = ("status", "provider", "currency")
    list_select_related = ("user",)
    search_fields = ("user__email", "payment_reference", "page_reference")
    fields = ("user", "amount", "provider", "status", "created_at", "expires_at", "paid_at", "payment_reference", "page_reference", "app")
    readonly_fields = ("amount",)
    decision_names = ("refund",)
    found_title, found_detail = "user__email", "status"
    amount = money_column("Amount", "amount_minor")

    def name(self, subject: TopUp) -> str:
        return f"{email_or_deleted(subject.user)}: {self.amount(subject)}"

    def find(self, query: SearchQuery) -> list[Q]:
        if query.id:
            return [Q(pk=query.id)]
        return [Q(user__email=query.email)] if query.email else [Q(payment_reference=query.text)]

    def panels(self, request: HttpRequest, subject: TopUp) -> list[Panel]:
        events = [
            (f"{event.occurred_at:%Y-%m-%d %H:%M}", event.kind, event.event_id, event.outcome or "waits")
            for event in ProviderEvent.objects.filter(top_up=subject).order_by("id")
        ]
        reversals = [
            (f"{each.opened_at:%Y-%m-%d %H:%M}", each.kind, money(each.amount_minor, subject.currency), each.status, each.reference)
            for each in CardReversal.objects.filter(top_up=subject).order_by("id")
        ]
        return [
            Panel("Events of the provider", ("At (UTC)", "Kind", "Event", "Outcome"), events),
            Panel("Disputes and refunds", ("At (UTC)", "Kind", "Amount", "Status", "Reference"), reversals),
            *super().panels(request, subject),
        ]

    refund = service_decision(
        Decision(
            "Refund to card",
            REFUND,
            "What has not returned yet, and is in the wallet, returns to the card that paid it. The provider is asked at once; banks take days.",
            "The refund is on its way.",
            available=lambda top_up: top_up.status == TopUpStatus.SUCCEEDED,
            danger=True,
        ),
        refund_top_up,
        "top_up",
    )


@admin.register(ProviderEvent)
class ProviderEventAdmin(ServiceAdmin):
    """Events of payment providers."""

    list_display = ("occurred_at", "provider", "kind", "top_up", "outcome", "processed_at")
    list_filter = ("provider", "kind", ("processed_at", admin.EmptyFieldListFilter))
    list_select_related = ("top_up",)
    search_fields = ("event_id", "payment_reference", "reversal_reference")
    has_history = False


@admin.register(CardReversal)
class CardReversalAdmin(ServiceAdmin):
    """Disputes and refunds of top-ups, with the purchases that the top-ups paid for."""

    list_display = ("opened_at", "kind", "top_up", "amount", "status", "decided_at")
    list_filter = ("status", "kind")
    list_select_related = ("top_up",)
    search_fields = ("reference", "top_up__user__email")
    amount = money_column("Amount", "amount_minor", "top_up.currency")

    def panels(self, request: HttpRequest, subject: CardReversal) -> list[Panel]:
        rows = [
            (
                each.order.title,
                money(each.order.price_minor, each.order.currency),
                money(each.reversed_minor, each.order.currency),
                "yes" if each.suspended else "no",
                *(money(part, each.order.currency) for part in (each.withheld_minor, each.taken_minor)),
            )
            for each in subject.parts.select_related("order").order_by("id")
        ]
        return [
            Panel("Purchases", ("Asset", "Price", "Reversed", "Suspended", "Withheld", "Taken"), rows),
            *super().panels(request, subject),
        ]
