"""The purchases that upgrades replace."""

import uuid
from dataclasses import dataclass

from ..models import Order


@dataclass(frozen=True)
class UpgradedPurchase:
    """The purchase whose licence the new one replaces, with what was paid for it and for those that it had replaced."""

    order_id: uuid.UUID
    license_slug: str
    currency: str
    paid_minor: int


def find_upgraded_purchase(*, order_id: uuid.UUID) -> UpgradedPurchase:
    """Return the purchase whose licence is upgraded, with what was paid for it and for those that it upgraded."""
    first = order = Order.objects.get(pk=order_id)
    paid = order.price_minor
    while order.upgraded_from_id is not None:
        order = Order.objects.get(pk=order.upgraded_from_id)
        paid += order.price_minor
    return UpgradedPurchase(first.pk, first.license_slug, first.currency, paid)
