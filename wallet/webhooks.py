"""Webhook events about orders and top-ups; an app receives those about its own only."""

import uuid

from developers.event_types import EventType
from developers.models import App
from developers.selectors import has_live_consent
from developers.webhooks.publishing import link, publish_event
from marketplace.core.access import CredentialKind

from .models import Order, TopUp
from .models.orders import OrderStatus

_BY_CONSENT = {CredentialKind.OAUTH, CredentialKind.MCP}
_STATUS = {EventType.ORDER_COMPLETED: OrderStatus.COMPLETED, EventType.ORDER_REFUNDED: OrderStatus.REFUNDED}


def publish_refund(order: Order) -> None:
    """Publish a refund to the app that placed the order, unless the buyer has withdrawn consent since."""
    app = order.app
    if app is not None and _still_allowed(order.buyer_id, app, order.credential_kind):
        publish_order(EventType.ORDER_REFUNDED, app=app, order_id=order.pk, listing_id=order.listing_id)


def publish_order(event: EventType, *, app: App, order_id: uuid.UUID, listing_id: uuid.UUID) -> None:
    """Publish an order event to the app that placed it, in the transaction of the change."""
    if app.has_webhooks:
        data = {"orderId": str(order_id), "assetId": str(listing_id), "status": _STATUS[event].value, "url": link(f"orders/{order_id}")}
        publish_event(event=event, subject=order_id, data=data, app_id=app.pk)


def publish_top_up(top_up: TopUp) -> None:
    """Publish a paid top-up to the app that asked for it, unless the user has withdrawn consent since."""
    app = top_up.app
    if app is not None and app.has_webhooks and _still_allowed(top_up.user_id, app, top_up.credential_kind):
        data = {"topUpId": str(top_up.pk), "status": top_up.status, "url": link(f"wallet/top-ups/{top_up.pk}")}
        publish_event(event=EventType.WALLET_TOPPED_UP, subject=top_up.pk, data=data, app_id=app.pk)


def _still_allowed(user_id: uuid.UUID, app: App, credential_kind: str) -> bool:
    """Tell whether the app acts for its own developer, or with a consent that the user has not withdrawn."""
    by_consent = credential_kind in _BY_CONSENT and user_id != app.user_id
    return not by_consent or has_live_consent(user_id=user_id, app_id=app.pk)
