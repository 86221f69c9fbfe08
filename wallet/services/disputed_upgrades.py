"""Upgrades of disputed purchases: an upgrade is suspended and ends with the purchase whose licence it replaced.

Upgrades are priced by `wallet.services.offers` and made by `wallet.services.spending`.
"""

import uuid
from collections.abc import Iterable

from django.db.models import Q

from library.services.licences import reinstate_licences, suspend_licences
from marketplace.accounts.models import User

from ..models import CardReversal, Order, ReversalPart
from ..models.orders import OrderStatus
from ..models.top_ups import ReversalStatus
from ..selectors import upgrade_of, with_upgrades
from .refunds import refund_order

_OPEN = Q(reversal__status=ReversalStatus.OPEN)


def suspend_purchases(*, order_ids: Iterable[uuid.UUID], reason: str) -> None:
    """Suspend the licences of these purchases and of their upgrades.

    A licence is locked before its upgrades are looked for: one that is made at the same time is either found here, or refused.
    """
    done: set[uuid.UUID] = set()
    found = set(order_ids)
    while found:
        suspend_licences(order_ids=found, reason=reason)
        done |= found
        found = with_upgrades(done) - done


def restore_purchases(*, reversal: CardReversal, order_ids: Iterable[uuid.UUID]) -> None:
    """Restore the licences of these purchases and of their upgrades.

    One that another dispute suspends stays suspended, and so does an upgrade of a purchase that is suspended or charged back.
    """
    buyer = reversal.top_up.user
    others = ReversalPart.objects.filter(_OPEN, suspended=True, order__buyer=buyer).exclude(reversal=reversal)
    lost = Order.objects.filter(buyer=buyer, status=OrderStatus.CHARGED_BACK)
    blocking = [*others.values_list("order_id", flat=True), *lost.values_list("pk", flat=True)]
    reinstate_licences(order_ids=with_upgrades(order_ids) - with_upgrades(blocking), reason="the dispute is over")


def refund_upgrades(*, buyer: User) -> None:
    """Refund the upgrades of purchases that were charged back, newest first; one that is disputed itself waits for the end of that."""
    roots = Order.objects.filter(buyer=buyer, status=OrderStatus.CHARGED_BACK, upgrades__status=OrderStatus.COMPLETED)
    orphaned = Order.objects.filter(pk__in=with_upgrades(roots.values_list("pk", flat=True)), status=OrderStatus.COMPLETED)
    for order in orphaned.order_by("-created_at", "-pk"):
        disputed = order.reversal_parts.filter(_OPEN).exists()
        if not disputed and upgrade_of(order) is None:
            refund_order(order=order, reason="the purchase that it upgraded was charged back", actor=None)
