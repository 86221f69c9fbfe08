"""Pages of the wallet's history."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from marketplace.api.pagination import newest_first


def page_of(query: Mapping[str, Any], time_field: str, *querysets: "QuerySet[Any, Any]") -> dict[str, Any]:
    """Return the page of the merged querysets that a query asks for by `limit` and `cursor`; see `newest_first`."""
    page = newest_first(querysets, time_field, limit=query["limit"], cursor=query.get("cursor"))
    return {"items": page.rows, "nextCursor": page.next_cursor}
