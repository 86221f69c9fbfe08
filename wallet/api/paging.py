"""Pages of what happened, newest first."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request

from marketplace.core.api.pagination import decode_cursor, encode_cursor
from marketplace.core.api.serializers import parse_query

from ..selectors import before
from .serializers.history import HistoryQuery


def page_of(request: Request, rows: "QuerySet[Any, Any]", moment: str) -> dict[str, Any]:
    """Return the page of rows that the request asks for; `moment` is the field they are sorted by."""
    query = parse_query(HistoryQuery, request)
    if "cursor" in query:
        rows = before(rows, moment, *decode_cursor(query["cursor"]))
    found = list(rows[: query["limit"] + 1])
    items, more = found[: query["limit"]], len(found) > query["limit"]
    at: datetime | None = getattr(items[-1], moment) if more else None
    return {"items": items, "nextCursor": None if at is None else encode_cursor(at, items[-1].pk)}
