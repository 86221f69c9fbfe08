"""Webhook events about orders, sales, top-ups and approvals.

An app receives events about the orders, top-ups and approvals that it asked for, and about the sales of vendors who chose that event for it.
"""

import uuid

from developers.event_types import EventType
from developers.models import App, Consent
from developers.webhooks.publishing import api_url, new_event, publish_events
from marketplace.core.access import CredentialKind
from marketplace.core.money import to_number

from .models import Approval, Order, TopUp
from .models.orders import OrderStatus

_BY_CONSENT = {CredentialKind.OAUTH, CredentialKind.MCP}


def publish_refund(order: Order) -> None:
    """Publish a refund to the app that placed the order, unless the buyer has withdrawn consent since."""
    app = order.app
    if app is not None and _still_allowed(order.buyer_id, app, order.credential_kind):
        _publish_order(EventType.ORDER_REFUNDED, order, OrderStatus.REFUNDED, app.pk)


def publish_purchase(order: Order) -> None:
    """Publish a purchase to the app that made it."""
    if order.app_id is not None:
        _publish_order(EventType.ORDER_COMPLETED, order, OrderStatus.COMPLETED, order.app_id)


def publish_sale(order: Order) -> None:
    """Publish a sale to the apps for which its vendor chose the event."""
    data = {
        "orderId": str(order.pk),
        "assetId": str(order.listing_id),
        "licenseSlug": order.license_slug,
        "currency": order.currency,
        "price": to_number(order.price_minor),
        "earned": to_number(order.vendor_share_minor),
        "url": api_url(f"vendor/assets/{order.listing_id}"),
    }
    publish_events(new_event(EventType.SALE_COMPLETED, subject=order.pk, data=data, owner_id=order.listing.store.owner_id))


def publish_top_up(top_up: TopUp) -> None:
    """Publish a paid top-up to the app that asked for it, unless the user has withdrawn consent since."""
    app = top_up.app
    if app is not None and _still_allowed(top_up.user_id, app, top_up.credential_kind):
        data = {"topUpId": str(top_up.pk), "status": top_up.status, "url": api_url(f"wallet/top-ups/{top_up.pk}")}
        publish_events(new_event(EventType.WALLET_TOPPED_UP, subject=top_up.pk, data=data, app_id=app.pk))


def publish_approval(approval: Approval) -> None:
    """Publish the owner's decision to the app that asked for it."""
    if approval.app_id is not None:
        data = {"approvalId": str(approval.pk), "status": approval.status, "url": api_url(f"approvals/{approval.pk}")}
        publish_events(new_event(EventType.APPROVAL_DECIDED, subject=approval.pk, data=data, app_id=approval.app_id))


def _publish_order(event: EventType, order: Order, status: OrderStatus, app_id: uuid.UUID) -> None:
    data = {"orderId": str(order.pk), "assetId": str(order.listing_id), "status": status.value, "url": api_url(f"orders/{order.pk}")}
    publish_events(new_event(event, subject=order.pk, data=data, app_id=app_id))


def _still_allowed(user_id: uuid.UUID, app: App, credential_kind: str) -> bool:
    """Tell whether the app acts for its own developer, or with a consent that the user has not withdrawn."""
    by_consent = credential_kind in _BY_CONSENT and user_id != app.user_id
    return not by_consent or Consent.objects.filter(user_id=user_id, app=app, withdrawn_at=None).exists()
