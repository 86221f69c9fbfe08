"""Webhook events about orders; an app receives those about its own orders only."""

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
    """Publish a refund to the app that placed the order, unless the buyer has withdrawn consent since."""
    app = order.app
    if app is None:
        return
    by_consent = order.credential_kind in _BY_CONSENT and order.buyer_id != app.user_id
    if not by_consent or has_live_consent(user_id=order.buyer_id, app_id=app.pk):
        publish_order(EventType.ORDER_REFUNDED, app=app, order_id=order.pk, listing_id=order.listing_id)


def publish_order(event: EventType, *, app: App, order_id: uuid.UUID, listing_id: uuid.UUID) -> None:
    """Publish an order event to the app that placed it, in the transaction of the change."""
    if app.has_webhooks:
        data = {"orderId": str(order_id), "assetId": str(listing_id), "status": _STATUS[event].value, "url": link(f"orders/{order_id}")}
        publish_event(event=event, subject=order_id, data=data, app_id=app.pk)
