"""The types of webhook events, and which endpoints receive them."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from django.db import models

from marketplace.core.scopes import Scope


class EventType(models.TextChoices):
    """The event types; names and payloads are part of `/api/v1` and only gain fields."""

    ASSET_PUBLISHED = "asset.published", "An asset was published."
    ASSET_UPDATED = "asset.updated", "A published asset changed: its text, prices, previews or file."
    ASSET_REMOVED = "asset.removed", "An asset left the catalog; buyers keep it, unless its file is blocked."
    ORDER_COMPLETED = "order.completed", "A purchase that this app made is complete."
    ORDER_REFUNDED = "order.refunded", "A purchase that this app made was refunded."
    WALLET_TOPPED_UP = "wallet.topped_up", "A top-up that this app asked for was paid."
    APPROVAL_DECIDED = "approval.decided", "The wallet's owner approved or declined a purchase that this app asked for."
    SALE_COMPLETED = "sale.completed", "A listing of your own store was sold."
    LISTING_REVIEWED = "listing.reviewed", "A reviewer decided on a listing of your own store."
    SCOPES_CHANGED = "app.scopes_changed", "A request for scopes of this approved app was decided, or scopes were withdrawn."


# Sent from the dashboard to any endpoint, without a subscription.
PING = "ping"
# Only the developer can choose these, on a page of the dashboard: no key acts for a vendor.
OWN_STORE_EVENTS: AbstractSet[str] = frozenset({EventType.SALE_COMPLETED, EventType.LISTING_REVIEWED})
# An app needs one of these scopes to receive the event: webhooks reveal nothing that calls would not.
# Empty: any app may.
SUFFICIENT_SCOPES: Mapping[str, frozenset[Scope]] = {
    EventType.ASSET_PUBLISHED: frozenset(),
    EventType.ASSET_UPDATED: frozenset(),
    EventType.ASSET_REMOVED: frozenset(),
    EventType.ORDER_COMPLETED: frozenset({Scope.ACCOUNT_READ, Scope.WALLET_SPEND}),
    EventType.ORDER_REFUNDED: frozenset({Scope.ACCOUNT_READ, Scope.WALLET_SPEND}),
    EventType.WALLET_TOPPED_UP: frozenset({Scope.ACCOUNT_READ, Scope.WALLET_FUND}),
    EventType.APPROVAL_DECIDED: frozenset({Scope.WALLET_SPEND}),
    EventType.SALE_COMPLETED: frozenset(),
    EventType.LISTING_REVIEWED: frozenset(),
    EventType.SCOPES_CHANGED: frozenset(),
    PING: frozenset(),
}


def may_receive(event: str, granted: AbstractSet[Scope]) -> bool:
    """Tell whether an app with these granted scopes may receive an event."""
    needed = SUFFICIENT_SCOPES[event]
    return not needed or not needed.isdisjoint(granted)


def may_subscribe(event: str, scopes: AbstractSet[Scope]) -> bool:
    """Tell whether a key with these scopes may list an event and subscribe to it. Events of the developer's own store are not for keys."""
    return event not in OWN_STORE_EVENTS and may_receive(event, scopes)


def types_for_key(scopes: AbstractSet[Scope]) -> list[str]:
    """Return the types of the events that a key with these scopes may list."""
    return [event for event in (*EventType.values, PING) if may_subscribe(event, scopes)]
