"""Puts the answer of browsing together: filters, total, page, the next page's cursor, facets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import Lock
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request

from marketplace.core import bounds
from marketplace.core.api.serializers import parse_values

from .. import selectors
from ..models import ShelfItem
from ..selectors import Facet, Facets, Place, Row, Sort, Total
from . import cursors
from . import representations as shown
from .caching import Memo
from .filters import AssetFilter, labels_of
from .serializers import BrowseQuery

# What the shelf keeps counts by.
COUNTED = {"category", "tier"}
# And these by one of their values.
LABELLED = {"tag", "platform", "fileType"}
FILTERS = (*sorted(COUNTED), "vendor", "license", "tag", "platform", "fileType", "minPrice", "maxPrice", "currency")
# From here on a page is counted from the nearest of the places that lie so many items apart.
DEEP = 1_000
PARAMETERS = frozenset(BrowseQuery().fields)


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
        filters = filters_of(query)
        sort, limit, facets = Sort(query["sort"]), query["limit"], query.get("facets", [])
        page, after = query["page"], None
        if "cursor" in query:
            page, after = cursors.decode(query["cursor"], sort=sort, filters=filters)
        return cls(filters, sort, limit, page, after, facets)


def filters_of(query: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters of a validated query."""
    filters = {name: query[name] for name in FILTERS if name in query}
    if not filters.keys() & {"minPrice", "maxPrice"}:
        # A currency alone asks for nothing.
        filters.pop("currency", None)
    return filters


def items_within(filters: Mapping[str, Any]) -> QuerySet[ShelfItem]:
    """Return the items that the filters keep."""
    items: QuerySet[ShelfItem] = AssetFilter(filters, ShelfItem.objects.all()).qs
    return items


@lru_cache(maxsize=1024)
def browsing_of(parameters: tuple[tuple[str, str], ...]) -> Browsing:
    """Return what good parameters ask for; most requests ask for what others did.

    Raises:
        serializers.ValidationError: one of them is bad, named `?parameter`.
    """
    return Browsing.of(parse_values(BrowseQuery, dict(parameters)))


def parameters_of(request: Request) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a request that browsing knows; the last of repeated ones counts, an empty one is as good as none."""
    return tuple(sorted((name, str(value)) for name, value in request.query_params.items() if name in PARAMETERS and value != ""))


def answer(browsing: Browsing, memo: Memo) -> dict[str, Any]:
    """Return the answer of GET assets."""
    category, tier = browsing.filters.get("category"), browsing.filters.get("tier")
    counted = browsing.filters.keys() <= COUNTED
    items = ShelfItem.objects.none() if counted else items_within(browsing.filters)
    total = (
        memo.get(f"total:{(category, tier)!r}", partial(selectors.total_on_shelf, category, tier)) if counted else _total(browsing, items)
    )
    rows, more = _page(browsing, None if counted else items, total, memo)
    cursor = None
    if more and browsing.page < bounds.PAGE:
        cursor = cursors.encode(rows[-1].place, page=browsing.page + 1, sort=browsing.sort, filters=browsing.filters)
    body = shown.asset_page(rows, total=total, page=browsing.page, cursor=cursor)
    if not browsing.facets:
        return body
    licenses = [tier.slug for tier in memo.get("tiers", selectors.active_tiers)]
    if counted:
        return body | shown.facets(selectors.facets_on_shelf(browsing.facets, category, tier, licenses), exact=True)
    return body | shown.facets(
        selectors.facets_of(items, browsing.facets, licenses), exact=total.exact and total.listings <= selectors.FACETED
    )


def facets_of_hits(ids: list[Any], names: list[Facet], memo: Memo) -> Facets:
    """Return the facets of listings that a search found."""
    licenses = [tier.slug for tier in memo.get("tiers", selectors.active_tiers)]
    return selectors.facets_of(ShelfItem.objects.filter(pk__in=ids), names, licenses)


def _total(browsing: Browsing, items: QuerySet[ShelfItem]) -> Total:
    """Return how many items match filters beyond category and tier."""
    others = browsing.filters.keys() - COUNTED
    if len(others) > 1 or not others <= LABELLED or items.query.is_empty():
        return selectors.total_matching(items)
    [name] = others
    labels = labels_of(name, browsing.filters[name])
    return selectors.total_on_shelf(browsing.filters.get("category"), browsing.filters.get("tier"), labels)


def _page(browsing: Browsing, items: QuerySet[ShelfItem] | None, total: Total, memo: Memo) -> tuple[list[Row], bool]:
    """Return the page's rows and whether there are more after it; of the whole category and tier where there are no items."""
    sort, limit, after = browsing.sort, browsing.limit, browsing.after
    start = 0 if after else (browsing.page - 1) * limit
    if after is None and total.exact and start >= total.listings:
        # Beyond the end, however far: nothing is looked for.
        return [], False
    if items is None and start >= DEEP:
        rows = _deep_page(browsing, start, memo)
    elif items is None:
        category, tier = browsing.filters.get("category"), browsing.filters.get("tier")
        rows = selectors.page_on_shelf(category, tier, sort=sort, start=start, limit=limit + 1, after=after)
    elif after is not None:
        rows = selectors.page_after(items, after, sort=sort, limit=limit + 1)
    else:
        rows = selectors.page_of(items, sort=sort, start=start, limit=limit + 1)
    return rows[:limit], len(rows) > limit


def _deep_page(browsing: Browsing, start: int, memo: Memo) -> list[Row]:
    """Return the rows of a page that lies deep, and one more: counted from the nearest known place before it.

    Places, one in every `DEEP` items, are counted once until the catalog changes, as far as somebody asks. They are forgotten after a
    while besides: purchases move listings in `popular` without a change of the catalog, and pages must not drift further apart
    than cached answers may.
    """
    category, tier, sort = browsing.filters.get("category"), browsing.filters.get("tier"), browsing.sort
    places = memo.get(f"places:{(sort.value, category, tier)!r}", Places)
    number, passed = divmod(start, DEEP)
    with places.lock:
        missing = number - len(places.known)
        if missing > 0:
            last = places.known[-1] if places.known else None
            places.known += selectors.places_on_shelf(category, tier, sort=sort, every=DEEP, many=missing, after=last)
        # The shelf may have become shorter than its count was.
        if number > len(places.known):
            return []
        after = places.known[number - 1]
    return selectors.page_on_shelf(category, tier, sort=sort, start=passed, limit=browsing.limit + 1, after=after)


class Places:
    """The places after every `DEEP` items of an order."""

    def __init__(self) -> None:
        self.known: list[Place] = []
        # Whoever else asks waits for the one that counts.
        self.lock = Lock()
