"""The types of webhook events, and which endpoints receive them."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum

from marketplace.core.scopes import Scope


class EventType(StrEnum):
    """The vocabulary; names and payloads are part of `/api/v1` and only gain fields."""

    ASSET_PUBLISHED = "asset.published"
    ASSET_UPDATED = "asset.updated"
    ASSET_REMOVED = "asset.removed"
    ORDER_COMPLETED = "order.completed"
    ORDER_REFUNDED = "order.refunded"
    LISTING_REVIEWED = "listing.reviewed"
    SCOPES_CHANGED = "app.scopes_changed"


# Sent by hand, to any endpoint; nobody subscribes to it.
PING = "ping"
EVENT_LABELS: Mapping[EventType, str] = {
    EventType.ASSET_PUBLISHED: "An asset was published.",
    EventType.ASSET_UPDATED: "A published asset changed: its text, prices, previews or file.",
    EventType.ASSET_REMOVED: "An asset left the catalog; buyers keep it.",
    EventType.ORDER_COMPLETED: "A purchase that this app made is complete.",
    EventType.ORDER_REFUNDED: "A purchase that this app made was refunded.",
    EventType.LISTING_REVIEWED: "A reviewer decided on a listing of your own store.",
    EventType.SCOPES_CHANGED: "The granted scopes of this app changed.",
}
# Of these the app needs one now to hear of it: a webhook tells nothing that no call would.
REQUIRED_SCOPES: Mapping[str, frozenset[Scope]] = {
    EventType.ORDER_COMPLETED: frozenset({Scope.ACCOUNT_READ, Scope.WALLET_SPEND}),
    EventType.ORDER_REFUNDED: frozenset({Scope.ACCOUNT_READ, Scope.WALLET_SPEND}),
}


def may_receive(event: str, granted: AbstractSet[Scope]) -> bool:
    """Tell whether an app that is granted these scopes may hear of an event."""
    needed = REQUIRED_SCOPES.get(event)
    return needed is None or not needed.isdisjoint(granted)
