"""Pages of the wallet's history."""

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request

from marketplace.core.api.serializers import parse_query
from marketplace.core.pagination import newest_first

from .serializers.history import HistoryQuery


def page_of(request: Request, moment: str, *querysets: "QuerySet[Any, Any]") -> dict[str, Any]:
    """Return the page of the merged querysets that a request asks for by `limit` and `cursor`; see `newest_first`."""
    query = parse_query(HistoryQuery, request)
    page = newest_first(querysets, moment, limit=query["limit"], cursor=query.get("cursor"))
    return {"items": page.rows, "nextCursor": page.next_cursor}
