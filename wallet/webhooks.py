"""Webhook events about orders: an app gets only those about orders that it placed itself."""

import uuid

from developers.event_types import EventType
from developers.models import App
from developers.selectors import has_live_consent
from developers.webhooks.publishing import link, publish_event
from marketplace.core.access import CredentialKind

from .models import Order
from .models.orders import OrderStatus

_BY_CONSENT = {CredentialKind.OAUTH, CredentialKind.MCP}
_STATUS = {EventType.ORDER_COMPLETED: OrderStatus.COMPLETED, EventType.ORDER_REFUNDED: OrderStatus.REFUNDED}


def publish_refund(order: Order) -> None:
    """Tell the app that made the order, unless its buyer has taken the app's permission back since."""
    app = order.app
    if app is None:
        return
    by_consent = order.credential_kind in _BY_CONSENT and order.buyer_id != app.user_id
    if not by_consent or has_live_consent(user_id=order.buyer_id, app_id=app.pk):
        publish_order(EventType.ORDER_REFUNDED, app=app, order_id=order.pk, listing_id=order.listing_id)


def publish_order(event: EventType, *, app: App, order_id: uuid.UUID, listing_id: uuid.UUID) -> None:
    """Tell the app that made an order what became of it, in the transaction of the change."""
    if app.has_webhooks:
        data = {"orderId": str(order_id), "assetId": str(listing_id), "status": _STATUS[event].value, "url": link(f"orders/{order_id}")}
        publish_event(event=event, subject=order_id, data=data, app_id=app.pk)
