"""Pages of what happened, newest first."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request

from marketplace.core.api.pagination import decode_cursor, encode_cursor
from marketplace.core.api.serializers import parse_query

from ..selectors import before
from .serializers.history import HistoryQuery


def page_of(request: Request, moment: str, *lists: "QuerySet[Any, Any]") -> dict[str, Any]:
    """Return the page that the request asks for; from each of several lists no more is read than one page takes.

    Args:
        request: With `limit` and `cursor`.
        moment: The field by which all lists are sorted, newest first, then by id.
        *lists: What is merged.
    """
    query = parse_query(HistoryQuery, request)
    if "cursor" in query:
        place = decode_cursor(query["cursor"])
        lists = tuple(before(rows, moment, *place) for rows in lists)
    rows = [row for some in lists for row in some[: query["limit"] + 1]]
    found = sorted(rows, key=lambda row: (getattr(row, moment), row.pk), reverse=True)
    items, more = found[: query["limit"]], len(found) > query["limit"]
    at: datetime | None = getattr(items[-1], moment) if more else None
    return {"items": items, "nextCursor": None if at is None else encode_cursor(at, items[-1].pk)}
