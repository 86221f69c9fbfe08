"""Refunds to deleted accounts that wait to be paid out: what was not paid by card, and pays no debt."""

from django.db.models import Exists, OuterRef, QuerySet, Sum

from .models import Journal, Order, Transfer
from .models.ledger import AccountKind, JournalKind


def unclaimed_refunds() -> QuerySet[Order]:
    """Return the orders that were refunded to a deleted account and not paid out."""
    waits = Exists(_to_unclaimed().filter(journal__order=OuterRef("pk")))
    paid = Exists(Journal.objects.filter(order=OuterRef("pk"), kind=JournalKind.REFUND_PAYOUT))
    return Order.objects.filter(waits, ~paid)


def unclaimed_minor(order: Order) -> int:
    """Return how much of an order's refund waits to be paid out."""
    waiting = _to_unclaimed().filter(journal__order__in=unclaimed_refunds().filter(pk=order.pk))
    return waiting.aggregate(total=Sum("amount_minor"))["total"] or 0


def _to_unclaimed() -> QuerySet[Transfer]:
    return Transfer.objects.filter(journal__kind=JournalKind.REFUND, credit__kind=AccountKind.UNCLAIMED)


def unclaimed_sums() -> dict[str, int]:
    """Return the sums of unclaimed refunds, by currency."""
    waiting = _to_unclaimed().filter(journal__order__in=unclaimed_refunds())
    rows = waiting.order_by("currency").values("currency").annotate(total=Sum("amount_minor"))
    return dict(rows.values_list("currency", "total"))
