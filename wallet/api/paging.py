"""Pages of what happened, newest first."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request

from marketplace.core.api.pagination import decode_cursor, encode_cursor
from marketplace.core.api.serializers import parse_query

from ..selectors import newest_of
from .serializers.history import HistoryQuery


def page_of(request: Request, moment: str, *lists: "QuerySet[Any, Any]") -> dict[str, Any]:
    """Return the page that the request asks for; from each of several lists no more is read than one page takes.

    Args:
        request: With `limit` and `cursor`.
        moment: The field by which all lists are sorted, newest first, then by id.
        *lists: What is merged.
    """
    query = parse_query(HistoryQuery, request)
    after = decode_cursor(query["cursor"]) if "cursor" in query else None
    items, more = newest_of(lists, moment, limit=query["limit"], after=after)
    at: datetime | None = getattr(items[-1], moment) if more else None
    return {"items": items, "nextCursor": None if at is None else encode_cursor(at, items[-1].pk)}
