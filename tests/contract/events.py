"""Events and webhooks (not in the specification), which belong to the app of the API key."""

from dataclasses import replace
from typing import Any

from developers.event_types import EventType

from .catalog import LIMIT
from .history import PAGING
from .shapes import BOOLEAN, INTEGER, OBJECT, STRING, TIME, Auth, Field, Operation, Query, Shape, array, nullable, one_of, record

EVENT = record({"id": STRING, "type": STRING, "timestamp": TIME, "data": OBJECT})

_WEBHOOK: dict[str, Shape] = {
    "id": STRING,
    "url": STRING,
    "description": STRING,
    "events": array(STRING),
    "enabled": BOOLEAN,
    "status": one_of("Active", "Failing", "Disabled"),
    "disabledReason": STRING,
    "createdAt": TIME,
    "lastDeliveredAt": nullable(TIME),
}
WEBHOOK = record(_WEBHOOK)
_STATUSES = ("Pending", "Delivered", "Failed", "Cancelled")
DELIVERY = record(
    {
        **dict.fromkeys(("id", "eventId", "type"), STRING),
        "status": one_of(*_STATUSES),
        "attempts": INTEGER,
        "createdAt": TIME,
        **dict.fromkeys(("nextAttemptAt", "lastAttemptAt"), nullable(TIME)),
        "lastHttpStatus": nullable(INTEGER),
        "lastError": STRING,
    }
)
_EVENTS = {"enum": list(EventType)}
_URL = Field("url", "string", "https://hooks.example.com/in", required=True, bounds={"maxLength": 2000}, bad=("", "x" * 2001))
_EVENT_LIST = Field(
    "events",
    "array",
    ["asset.published", "order.completed"],
    required=True,
    bounds={"minItems": 1, "maxItems": len(EventType), "items": _EVENTS},
    bad=([], ["ping"], "asset.published"),
)
_DESCRIPTION = Field("description", "string", "Staging", bounds={"maxLength": 120}, bad=("x" * 121,))
_ENABLED = Field("enabled", "boolean", sample=False, bad=("no", 0))


def _operation(method: str, path: str, answer: Shape, **more: Any) -> Operation:
    refusals = frozenset({"not_found"} if "{" in path else ()) | more.pop("refusals", set())
    return Operation(method, f"/webhooks{path}", Auth.KEY, "hooked", answer, refusals=refusals, added=True, **more)


WEBHOOKS = (
    _operation("GET", "", record({"items": array(WEBHOOK)})),
    _operation(
        "POST",
        "",
        record({**_WEBHOOK, "secret": STRING}),
        body=(_URL, _EVENT_LIST, _DESCRIPTION),
        refusals={"app_not_approved", "insufficient_scope", "too_many_webhook_endpoints", "webhook_url_refused"},
    ),
    _operation("GET", "/{webhook_id}", WEBHOOK),
    _operation(
        "PATCH",
        "/{webhook_id}",
        WEBHOOK,
        body=(replace(_URL, required=False), replace(_EVENT_LIST, required=False), _DESCRIPTION, _ENABLED),
        refusals={"insufficient_scope", "webhook_url_refused"},
    ),
    _operation("DELETE", "/{webhook_id}", record({"id": STRING})),
    _operation(
        "POST",
        "/{webhook_id}/rotate-secret",
        record({"id": STRING, "secret": STRING, "oldSecretExpiresAt": nullable(TIME)}),
        body=(Field("overlapHours", "integer", 0, default=24, bounds={"minimum": 0, "maximum": 168}, bad=(-1, 169, "1")),),
    ),
    _operation(
        "GET",
        "/{webhook_id}/deliveries",
        record({"items": array(DELIVERY), "nextCursor": nullable(STRING)}),
        query=(Query("status", "string", bounds={"enum": list(_STATUSES)}, bad=("failed",)), *PAGING),
        refusals={"invalid_input"},
    ),
    _operation(
        "POST",
        "/{webhook_id}/deliveries/{delivery_id}/redeliver",
        DELIVERY,
        refusals={"app_not_approved", "invalid_transition", "too_many_test_events"},
    ),
)
OPERATIONS = (
    *WEBHOOKS,
    Operation(
        "GET",
        "/events",
        Auth.KEY,
        "eventful",
        record({"items": array(EVENT), "nextCursor": STRING, "hasMore": BOOLEAN}),
        query=(
            Query("after", "string", bounds={"maxLength": 200}, bad=("nonsense", "WyIxIl0", "x" * 201)),
            LIMIT,
        ),
        refusals=frozenset({"invalid_input"}),
        added=True,
    ),
)
