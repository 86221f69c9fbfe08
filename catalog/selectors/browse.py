"""Pages of the shelf: in four orders, by number or after a cursor, with totals that do not count a million rows."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import F, QuerySet, Subquery, Sum
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan
from django.db.models.functions import Coalesce

from marketplace.core.prepared import prepared_cursor
from marketplace.core.replica import read_connection

from ..models import ShelfCount, ShelfItem

# Counted one by one up to here, where filters have no counts of their own.
CAP = 5_000


class Sort(StrEnum):
    """The orders of browsing (reference section 4)."""

    POPULAR = "popular"
    NEWEST = "newest"
    PRICE_ASC = "price_asc"
    PRICE_DESC = "price_desc"


# All ascending, all ending in the id: pages never overlap, and what comes after a place is one comparison.
ORDERS: dict[Sort, tuple[str, ...]] = {
    Sort.POPULAR: ("unpopularity", "newest", "listing_id"),
    Sort.NEWEST: ("newest", "listing_id"),
    Sort.PRICE_ASC: ("price_up", "listing_id"),
    Sort.PRICE_DESC: ("price_down", "listing_id"),
}
# The values of an order's columns in one row.
Place = tuple[int | uuid.UUID, ...]


class Row(NamedTuple):
    """What a list shows of a listing, and its place in the order."""

    id: uuid.UUID
    title: str
    inr: int | None
    tier: str
    place: Place


@dataclass(frozen=True)
class Total:
    """How many listings there are; at least as many where they were not counted to the end."""

    listings: int
    exact: bool = True


def shelf_counts(category: str | None, tier: str | None, labels: Sequence[str] | None = ("",)) -> QuerySet[ShelfCount]:
    """Return the counts of a category, tier and labels, of all of them when None."""
    counts = ShelfCount.objects.all() if labels is None else ShelfCount.objects.filter(label__in=labels)
    if category is not None:
        counts = counts.filter(category__slug=category)
    return counts if tier is None else counts.filter(tier=tier)


def total_on_shelf(category: str | None, tier: str | None, labels: Sequence[str] = ("",)) -> Total:
    """Return how many listings for sale a category and tier have, from their counts; of those with one of these labels.

    No listing may have two of the labels.
    """
    return Total(shelf_counts(category, tier, labels).aggregate(n=Coalesce(Sum("listings"), 0))["n"])


def total_matching(items: QuerySet[ShelfItem]) -> Total:
    """Return how many items there are, counting no further than the cap."""
    found = items.order_by()[: CAP + 1].count()
    return Total(min(found, CAP), exact=found <= CAP)


def page_on_shelf(category: str | None, tier: str | None, *, sort: Sort, start: int, limit: int, after: Place | None = None) -> list[Row]:
    """Return a page of a category and tier: what `page_of` and `page_after` do, in SQL whose making costs nothing.

    Args:
        category: A category's slug; every category when None.
        tier: A tier; every tier when None.
        sort: The order.
        start: How many items to pass over.
        limit: How many to return.
        after: The place to go on after.
    """
    sql = _page_sql(sort, category is not None, tier is not None, after is not None, limit)
    params: list[Any] = [value for value in (category, tier) if value is not None]
    if after is not None:
        params += _place_params(after)
    with prepared_cursor(read_connection()) as cursor:
        cursor.execute(sql, [*params, start])
        rows = cursor.fetchall()
    return [_row(*row) for row in rows]


def places_on_shelf(
    category: str | None, tier: str | None, *, sort: Sort, every: int, many: int, after: Place | None = None
) -> list[Place]:
    """Return the places of up to so many items of a category and tier, one in every so many, counted from the beginning or a place."""
    of: list[Any] = [value for value in (category, tier) if value is not None]
    begin = [] if after is None else _place_params(after)
    with prepared_cursor(read_connection()) as cursor:
        cursor.execute(_places_sql(sort, category is not None, tier is not None, after is not None, every), [*of, *begin, *of, many])
        return [_place(row) for row in cursor.fetchall()]


@cache
def _places_sql(sort: Sort, in_category: bool, of_tier: bool, after: bool, every: int) -> str:  # noqa: FBT001 - a key of the cache
    """Return the statement that leaps from place to place in the order's index: a third of the time of numbering what it leaps over."""
    order = ORDERS[sort]
    keys, known, found = (", ".join(f"{prefix}{column}" for column in order) for prefix in ("", "places.", "item."))
    leap = f"ORDER BY {keys} LIMIT 1 OFFSET {every - 1:d}"
    further = f"{_where(sort, in_category, of_tier, False) or 'WHERE '}{'AND ' if in_category or of_tier else ''}({keys}) > ({known})"
    # Put together from names of ours.
    return (
        f"WITH RECURSIVE places AS (SELECT {keys}, 1 AS number FROM "  # noqa: S608
        f"(SELECT {keys} FROM catalog_shelfitem {_where(sort, in_category, of_tier, after)}{leap}) first "
        f"UNION ALL SELECT {found}, places.number + 1 FROM places JOIN catalog_shelfitem item ON item.listing_id = "
        f"(SELECT listing_id FROM catalog_shelfitem {further} {leap}) WHERE places.number < %s) "
        f"SELECT {keys} FROM places ORDER BY number"
    )


@cache
def _page_sql(sort: Sort, in_category: bool, of_tier: bool, after: bool, limit: int) -> str:  # noqa: FBT001 - a key of the cache
    """Return the statement of a page: the ids from the order's index alone, then the rows of these.

    The limit is a part of it: without one, a plan made ahead would be for a large part of the catalog.
    """
    order = ORDERS[sort]
    where = _where(sort, in_category, of_tier, after)
    keys = ", ".join(f"item.{column}" for column in order)
    # Put together from the names above.
    return (
        f"SELECT item.listing_id, listing.title, item.inr, item.tier, {keys} FROM "  # noqa: S608
        f"(SELECT listing_id FROM catalog_shelfitem {where}ORDER BY {', '.join(order)} LIMIT {limit:d} OFFSET %s) page "
        "JOIN catalog_shelfitem item ON item.listing_id = page.listing_id JOIN catalog_listing listing ON listing.id = page.listing_id "
        f"ORDER BY {keys}"
    )


def _where(sort: Sort, in_category: bool, of_tier: bool, after: bool) -> str:  # noqa: FBT001 - as above
    order = ORDERS[sort]
    conditions = ["category_id = (SELECT id FROM catalog_category WHERE slug = %s)"] if in_category else []
    conditions += ["tier = %s"] if of_tier else []
    conditions += [f"({', '.join(order)}) > ({', '.join(['%s'] * len(order))})"] if after else []
    return f"WHERE {' AND '.join(conditions)} " if conditions else ""


def _place_params(place: Place) -> list[Any]:
    *keys, row_id = place
    return [*keys, row_id.hex if connection.vendor == "sqlite" and isinstance(row_id, uuid.UUID) else row_id]


def _place(row: Sequence[Any]) -> Place:
    *keys, row_id = row
    # SQLite has ids as text.
    return (*keys, row_id if isinstance(row_id, uuid.UUID) else uuid.UUID(row_id))


def _row(row_id: Any, title: str, inr: int | None, tier: str, *place: Any) -> Row:
    # SQLite has ids as text.
    real_id = row_id if isinstance(row_id, uuid.UUID) else uuid.UUID(row_id)
    return Row(real_id, title, inr, tier, (*place[:-1], real_id))


def page_of(items: QuerySet[ShelfItem], *, sort: Sort, start: int, limit: int) -> list[Row]:
    """Return the items from a position on.

    The ids come from the order's index alone; only then are rows read, so that a deep page reads no rows that it skips.
    """
    order = ORDERS[sort]
    return _rows(items.order_by(*order).values("pk")[start : start + limit], order)


def page_after(items: QuerySet[ShelfItem], place: Place, *, sort: Sort, limit: int) -> list[Row]:
    """Return the items that come after a place."""
    order = ORDERS[sort]
    later = TupleGreaterThan(Tuple(*map(F, order)), place)
    return _rows(items.filter(later).order_by(*order).values("pk")[:limit], order)


def _rows(ids: QuerySet[Any, Any], order: Sequence[str]) -> list[Row]:
    items = ShelfItem.objects.filter(pk__in=Subquery(ids)).order_by(*order)
    rows = items.values_list("listing_id", "listing__title", "inr", "tier", *order)
    return [_row(*row) for row in rows]
