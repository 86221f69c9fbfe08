"""Events and webhooks (not in the reference), which belong to the app of the API key."""

from .catalog import BAD_LIMITS
from .shapes import BOOLEAN, OBJECT, STRING, TIME, Auth, Operation, Query, array, record

EVENT = record({"id": STRING, "type": STRING, "timestamp": TIME, "data": OBJECT})

OPERATIONS = (
    Operation(
        "GET",
        "/events",
        Auth.KEY,
        "eventful",
        record({"items": array(EVENT), "nextCursor": STRING, "hasMore": BOOLEAN}),
        query=(
            Query("after", "string", bounds={"maxLength": 200}, bad=("nonsense", "WzFd", "x" * 201)),
            Query("limit", "integer", default=25, bounds={"minimum": 1}, bad=BAD_LIMITS, maximum=100),
        ),
        refusals=frozenset({"invalid_input"}),
        added=True,
    ),
)
