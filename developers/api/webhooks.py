"""The webhooks section of the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiResponse, OpenApiWebhook, extend_schema, inline_serializer
from rest_framework import serializers

from ..event_types import PING, EventType

Fields = Mapping[str, serializers.Field]  # type: ignore[type-arg]  # of any kind

_HEADERS = (
    ("webhook-id", "string", "The event's id, the same for every attempt; process each id once."),
    ("webhook-timestamp", "integer", "Time of this attempt in seconds since 1970. Reject requests that are more than five minutes off."),
    (
        "webhook-signature",
        "string",
        "`v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`; several, with spaces between, while a secret is rotated.",
    ),
)


def _link(what: str) -> serializers.URLField:
    return serializers.URLField(help_text=f"Where to read {what}.")


def _asset() -> Fields:
    return {"assetId": serializers.CharField(), "slug": serializers.CharField(), "url": _link("the asset")}


def _order() -> Fields:
    return {
        "orderId": serializers.CharField(),
        "assetId": serializers.CharField(),
        "status": serializers.CharField(help_text="Completed or Refunded."),
        "url": _link("the order, with a credential of its buyer"),
    }


# The fields of `data` by event type.
DATA: Mapping[str, Fields] = {
    EventType.ASSET_PUBLISHED: _asset(),
    EventType.ASSET_UPDATED: _asset(),
    EventType.ASSET_REMOVED: _asset(),
    EventType.ORDER_COMPLETED: _order(),
    EventType.ORDER_REFUNDED: _order(),
    EventType.WALLET_TOPPED_UP: {
        "topUpId": serializers.CharField(),
        "status": serializers.CharField(help_text="Succeeded."),
        "url": _link("the top-up, with a token of the wallet's owner"),
    },
    EventType.APPROVAL_DECIDED: {
        "approvalId": serializers.CharField(),
        "status": serializers.CharField(help_text="Approved or Declined."),
        "url": _link("the approval, with a token of the wallet's owner"),
    },
    EventType.SALE_COMPLETED: {
        "orderId": serializers.CharField(),
        "assetId": serializers.CharField(),
        "licenseSlug": serializers.CharField(),
        "currency": serializers.CharField(),
        "price": serializers.FloatField(help_text="What the buyer paid, tax included."),
        "earned": serializers.FloatField(help_text="Your share of it."),
        "url": _link("the listing"),
    },
    EventType.LISTING_REVIEWED: {
        "assetId": serializers.CharField(),
        "slug": serializers.CharField(),
        "reviewId": serializers.CharField(),
        "kind": serializers.CharField(help_text="Listing, Update or Takedown."),
        "decision": serializers.CharField(help_text="Approved or Rejected."),
        "url": _link("the findings"),
    },
    EventType.SCOPES_CHANGED: {"appId": serializers.CharField(), "grantedScopes": serializers.ListField(child=serializers.CharField())},
    PING: {"endpointId": serializers.CharField()},
}


def _webhook(event: str, fields: Fields) -> OpenApiWebhook:
    name = "".join(part.capitalize() for part in event.replace(".", "_").split("_"))
    shape = inline_serializer(
        f"{name}Event",
        {
            "type": serializers.CharField(help_text=f"`{event}`"),
            "timestamp": serializers.DateTimeField(help_text="When it happened."),
            "data": inline_serializer(f"{name}EventData", dict(fields)),
        },
    )
    summary = EventType(event).label if event != PING else "Sent from the dashboard to test an endpoint."
    decorator = extend_schema(
        operation_id=f"on{name}",
        summary=summary,
        description="Fields may be added, never removed.",
        tags=["webhooks"],
        request=shape,
        responses={"2XX": OpenApiResponse(description="Received. Any other status, or no response within ten seconds, leads to a retry.")},
    )
    return OpenApiWebhook(name=str(event), decorator=decorator)


WEBHOOKS = [_webhook(event, fields) for event, fields in DATA.items()]


def add_headers(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """Add the headers of every webhook, and that it needs no credential, to the generated document."""
    headers = [
        {"in": "header", "name": name, "required": True, "schema": {"type": kind}, "description": text} for name, kind, text in _HEADERS
    ]
    for methods in result["webhooks"].values():
        # Requests carry no credential: the signature authenticates them.
        methods["post"] |= {"parameters": headers, "security": []}
    return result
