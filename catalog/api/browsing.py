"""Puts the answer of browsing together: filters, total, page, the next page's cursor, facets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from marketplace.core import bounds

from .. import selectors
from ..models import ShelfItem
from ..selectors import Facet, Facets, Place, Row, Sort, Total
from . import cursors
from . import representations as shown
from .caching import Memo
from .filters import AssetFilter

# What the shelf keeps counts by.
COUNTED = {"category", "tier"}
FILTERS = (*sorted(COUNTED), "vendor", "license", "tag", "platform", "fileType", "minPrice", "maxPrice", "currency")


@dataclass(frozen=True)
class Browsing:
    """A validated query.

    Args:
        filters: Those that were given.
        sort: The order.
        limit: Items of a page.
        page: The page's number.
        after: Where the page goes on; None to count from the beginning.
        facets: What is counted besides.
    """

    filters: Mapping[str, Any]
    sort: Sort
    limit: int
    page: int
    after: Place | None = None
    facets: list[Facet] = field(default_factory=list)

    @classmethod
    def of(cls, query: Mapping[str, Any]) -> "Browsing":
        """Return what a query asks for.

        Raises:
            serializers.ValidationError: its cursor is not one of this order and these filters.
        """
        filters = {name: query[name] for name in FILTERS if name in query}
        if not filters.keys() & {"minPrice", "maxPrice"}:
            # A currency alone asks for nothing.
            filters.pop("currency", None)
        sort, limit, facets = Sort(query["sort"]), query["limit"], query.get("facets", [])
        page, after = query["page"], None
        if "cursor" in query:
            page, after = cursors.decode(query["cursor"], sort=sort, filters=filters)
        return cls(filters, sort, limit, page, after, facets)


def answer(browsing: Browsing, memo: Memo) -> dict[str, Any]:
    """Return the answer of GET assets."""
    items = AssetFilter(browsing.filters, ShelfItem.objects.all()).qs
    counted = browsing.filters.keys() <= COUNTED
    category, tier = browsing.filters.get("category"), browsing.filters.get("tier")
    total = selectors.total_on_shelf(category, tier) if counted else selectors.total_matching(items)
    rows, more = _page(browsing, items, total)
    cursor = None
    if more and browsing.page < bounds.PAGE:
        cursor = cursors.encode(rows[-1].place, page=browsing.page + 1, sort=browsing.sort, filters=browsing.filters)
    body = shown.asset_page(rows, total=total, page=browsing.page, cursor=cursor)
    if not browsing.facets:
        return body
    licenses = [tier.slug for tier in memo.get("tiers", selectors.active_tiers)]
    if counted:
        return body | shown.facets(selectors.facets_on_shelf(browsing.facets, category, tier, licenses), exact=True)
    return body | shown.facets(selectors.facets_of(items, browsing.facets, licenses), exact=total.exact)


def facets_of_hits(ids: list[Any], names: list[Facet], memo: Memo) -> Facets:
    """Return the facets of listings that a search found."""
    licenses = [tier.slug for tier in memo.get("tiers", selectors.active_tiers)]
    return selectors.facets_of(ShelfItem.objects.filter(pk__in=ids), names, licenses)


def _page(browsing: Browsing, items: Any, total: Total) -> tuple[list[Row], bool]:
    """Return the page's rows and whether there are more after it."""
    sort, limit = browsing.sort, browsing.limit
    start = (browsing.page - 1) * limit
    if browsing.after is not None:
        rows = selectors.page_after(items, browsing.after, sort=sort, limit=limit + 1)
    elif total.exact and start >= total.listings:
        # Beyond the end, however far: nothing is looked for.
        rows = []
    else:
        rows = selectors.page_of(items, sort=sort, start=start, limit=limit + 1)
    return rows[:limit], len(rows) > limit
