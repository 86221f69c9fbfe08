"""What apps are told of orders: of those that they made themselves, and of nobody else's."""

from typing import Any

from developers.selectors import has_live_consent
from developers.webhooks.events import EventType
from developers.webhooks.publishing import link, publish_event
from marketplace.core.access import CredentialKind

from .models import Order
from .models.orders import OrderStatus

_BY_CONSENT = {CredentialKind.OAUTH, CredentialKind.MCP}


def tell_of_refund(order: Order) -> None:
    """Tell the app that made the order, unless its buyer has taken the app's permission back since."""
    app = order.app
    if app is None:
        return
    by_consent = order.credential_kind in _BY_CONSENT and order.buyer_id != app.user_id
    if not by_consent or has_live_consent(user_id=order.buyer_id, app_id=app.pk):
        tell_of_order(
            EventType.ORDER_REFUNDED,
            {"id": order.pk, "app_id": app.pk, "listing_id": order.listing_id, "status": OrderStatus.REFUNDED},
        )


def tell_of_order(event: EventType, order: dict[str, Any]) -> None:
    """Tell the app that made an order what became of it, in the transaction of the change."""
    if order["app_id"] is None:
        return
    data = {
        "orderId": str(order["id"]),
        "assetId": str(order["listing_id"]),
        "status": str(order["status"]),
        "url": link(f"orders/{order['id']}"),
    }
    publish_event(event=event, subject=order["id"], data=data, app_id=order["app_id"])
