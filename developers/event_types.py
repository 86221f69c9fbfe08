"""The types of webhook events, and which endpoints receive them."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum

from marketplace.core.scopes import Scope


class EventType(StrEnum):
    """The event types; names and payloads are part of `/api/v1` and only gain fields."""

    ASSET_PUBLISHED = "asset.published"
    ASSET_UPDATED = "asset.updated"
    ASSET_REMOVED = "asset.removed"
    ORDER_COMPLETED = "order.completed"
    ORDER_REFUNDED = "order.refunded"
    WALLET_TOPPED_UP = "wallet.topped_up"
    APPROVAL_DECIDED = "approval.decided"
    SALE_COMPLETED = "sale.completed"
    LISTING_REVIEWED = "listing.reviewed"
    SCOPES_CHANGED = "app.scopes_changed"


# Sent from the dashboard to any endpoint, without a subscription.
PING = "ping"
EVENT_LABELS: Mapping[EventType, str] = {
    EventType.ASSET_PUBLISHED: "An asset was published.",
    EventType.ASSET_UPDATED: "A published asset changed: its text, prices, previews or file.",
    EventType.ASSET_REMOVED: "An asset left the catalog; buyers keep it, unless its file is blocked.",
    EventType.ORDER_COMPLETED: "A purchase that this app made is complete.",
    EventType.ORDER_REFUNDED: "A purchase that this app made was refunded.",
    EventType.WALLET_TOPPED_UP: "A top-up that this app asked for was paid.",
    EventType.APPROVAL_DECIDED: "The wallet's owner approved or declined a purchase that this app asked for.",
    EventType.SALE_COMPLETED: "A listing of your own store was sold.",
    EventType.LISTING_REVIEWED: "A reviewer decided on a listing of your own store.",
    EventType.SCOPES_CHANGED: "A request for scopes of this approved app was decided, or scopes were withdrawn.",
}
# Only the developer can choose these, on a page of the dashboard: no key acts for a vendor.
OF_OWN_STORE: AbstractSet[str] = frozenset({EventType.SALE_COMPLETED, EventType.LISTING_REVIEWED})
# An app needs one of these scopes to receive the event: webhooks reveal nothing that calls would not.
# Empty: any app may.
REQUIRED_SCOPES: Mapping[str, frozenset[Scope]] = {
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
    needed = REQUIRED_SCOPES[event]
    return not needed or not needed.isdisjoint(granted)


def may_subscribe(event: str, scopes: AbstractSet[Scope]) -> bool:
    """Tell whether a key with these scopes may list an event and subscribe to it. Events of the developer's own store are not for keys."""
    return event not in OF_OWN_STORE and may_receive(event, scopes)
