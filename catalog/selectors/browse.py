"""Lists of the listings on sale: sorted, paginated, with totals and facets."""

import uuid
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson
from django.db.models import BigIntegerField, F, Func, QuerySet, Sum, TextChoices, TextField, UUIDField, Value
from django.db.models.functions import Cast
from django.db.models.lookups import GreaterThan

from marketplace.core.money import Currency

from ..filters import IndexRows, ListingFilter, currency_of, license_of
from ..labels import normalised
from ..models import ListingCount, ListingIndex

# Totals without a stored count are exact up to this number.
COUNT_LIMIT = 5_000
# Facets without stored counts are computed from at most this many listings.
FACET_LIMIT = 2_000
# The most values of a facet.
FACET_VALUES = 50


class Sort(TextChoices):
    """The sort orders, with their labels in the storefront."""

    POPULAR = "popular", "Most popular"
    NEWEST = "newest", "Newest"
    PRICE_ASC = "price_asc", "Lowest price"
    PRICE_DESC = "price_desc", "Highest price"


class Facet(StrEnum):
    """The facets, by the names of their filters."""

    CATEGORY = "category"
    TIER = "tier"
    FILE_TYPE = "fileType"
    LICENSE = "license"


# Ascending sort keys, to which the id is added, so that pages neither repeat nor skip a listing.
_KEYS = {Sort.POPULAR: ("popular_key", "newest_key"), Sort.NEWEST: ("newest_key",)}
_KEYS_BY_PRICE = {
    (Sort.PRICE_ASC, Currency.USD): "price_usd",
    (Sort.PRICE_DESC, Currency.USD): "usd_descending",
    (Sort.PRICE_ASC, Currency.INR): "inr_ascending",
    (Sort.PRICE_DESC, Currency.INR): "inr_descending",
    (Sort.PRICE_ASC, Currency.EUR): "eur_ascending",
    (Sort.PRICE_DESC, Currency.EUR): "eur_descending",
}
_SORT_KEYS = {key for keys in _KEYS.values() for key in keys} | set(_KEYS_BY_PRICE.values())
# The columns that the API's lists and the pages' cards show.
ITEM_COLUMNS = (
    "listing_id",
    "slug",
    "title",
    "store_slug",
    "store_name",
    "store_logo",
    "tier",
    "price_usd",
    "price_inr",
    "price_eur",
    "thumbnail",
    "licenses",
)
CARD_COLUMNS = (
    *ITEM_COLUMNS,
    *(
        "category_slug",
        "category_name",
        "file_type",
        "list_price_usd",
        "list_price_inr",
        "list_price_eur",
        "discount_bp",
        "discount_ends_at",
    ),
)
# Rows with these columns and the sort keys. Naming the columns takes a quarter of a query's time, so it is done once.
ITEMS: IndexRows = ListingIndex.objects.values(*ITEM_COLUMNS, *sorted(_SORT_KEYS.difference(ITEM_COLUMNS)))
CARDS: IndexRows = ListingIndex.objects.values(*CARD_COLUMNS, *sorted(_SORT_KEYS.difference(CARD_COLUMNS)))
_COUNTS = ListingCount.objects.values_list("category_slug", "tier", "listings")
_UNFILTERED_COUNTS = _COUNTS.filter(name="", value="")
_FACET_COLUMNS: dict[Facet, str | Cast] = {
    Facet.CATEGORY: "category_slug",
    Facet.TIER: "tier",
    Facet.FILE_TYPE: "file_type",
    # As text: thousands of values take several times as long in the JSON parser of Django's field.
    Facet.LICENSE: Cast("licenses", TextField()),
}
Row = dict[str, Any]
# The sort keys of a listing, and its id.
Position = tuple[int | uuid.UUID, ...]
Facets = dict[str, list[tuple[str, int]]]


@dataclass(frozen=True)
class Total:
    """The number of listings; a lower bound if it is not exact."""

    count: int
    exact: bool = True


@dataclass(frozen=True)
class ListingPage:
    """A page of listings, and the number of listings on all pages."""

    rows: list[Row]
    total: Total
    # The position of the last listing; None on the last page.
    last: Position | None
    # The most frequent values of each requested facet, and whether they count all listings.
    facets: Facets
    facets_are_exact: bool


class _Columns(Func):
    """Columns as a row value, for row comparisons."""

    template = "(%(expressions)s)"
    output_field = BigIntegerField()


def list_listings(
    listings: IndexRows,
    given: Mapping[str, Any],
    *,
    sort: Sort = Sort.POPULAR,
    limit: int,
    start: int = 0,
    after: Position | None = None,
    facets: Collection[Facet] = (),
) -> ListingPage:
    """Return a page of listings, in at most three queries.

    Args:
        listings: `ITEMS` or `CARDS` that match the filters.
        given: The filters in use (`filters.given_filters`).
        sort: The order. Prices are those of the filters' licence and currency.
        limit: How many to return.
        start: The offset of the first.
        after: The position after which the page starts, instead of an offset.
        facets: The facets to count.
    """
    counts = _stored_counts(given)
    total = _total(listings, counts)
    if not facets or _has_only_category_and_tier(given):
        counted, exact = _stored_facets(given, counts or [], facets), True
    else:
        counted, exact = _count_facets(listings, facets), total.exact and total.count <= FACET_LIMIT
    if total.exact and after is None and start >= total.count:
        return ListingPage([], total, None, facets=counted, facets_are_exact=exact)
    listings, keys = _ordered(listings, given, sort)
    rows = _rows(listings, keys, limit=limit + 1, start=start, after=after)
    last = tuple(rows[limit - 1][key] for key in keys) if len(rows) > limit else None
    return ListingPage(rows[:limit], total, last, facets=counted, facets_are_exact=exact)


def key_count(sort: Sort) -> int:
    """Return the number of an order's sort keys, without the id; all are integers."""
    return len(_KEYS[sort]) if sort in _KEYS else 1


def sorts_by_price(sort: Sort) -> bool:
    """Tell whether an order is by price, and so depends on the currency and the licence."""
    return sort not in _KEYS


def rows_of(ids: Collection[uuid.UUID], listings: IndexRows = CARDS) -> dict[uuid.UUID, Row]:
    """Return the rows of these listings by id, without those that are not on sale."""
    return {row["listing_id"]: row for row in listings.filter(pk__in=ids)}


def facets_of_listings(ids: Collection[uuid.UUID], names: Collection[Facet]) -> Facets:
    """Return the facets of these listings, without those that are not on sale."""
    return _count_facets(ListingIndex.objects.filter(pk__in=ids), names)


def count_listings_on_sale() -> int:
    """Return how many listings are on sale."""
    return sum(listed for *_, listed in _stored_counts({}) or ())


def _ordered(listings: IndexRows, given: Mapping[str, Any], sort: Sort) -> tuple[IndexRows, tuple[str, ...]]:
    keys = _KEYS.get(sort) or (_KEYS_BY_PRICE[sort, currency_of(given)],)
    if sorts_by_price(sort) and (license_slug := license_of(given)):
        listings = listings.filter(prices__license=license_slug).annotate(price_key=F(f"prices__{keys[0]}"))
        keys = ("price_key",)
    keys = (*keys, "listing_id")
    return listings.order_by(*keys), keys


def _rows(listings: IndexRows, keys: Sequence[str], *, limit: int, start: int, after: Position | None) -> list[Row]:
    if after is not None:
        *values, row_id = after
        position = _Columns(*(Value(value) for value in values), Value(row_id, output_field=UUIDField()))
        listings = listings.filter(GreaterThan(_Columns(*keys), position))
    if start:
        # Rows before the offset are read from the index only.
        ids = listings.values("pk")[start : start + limit]
        listings = listings.filter(pk__in=ids)
    return list(listings[:limit])


def _has_only_category_and_tier(given: Mapping[str, Any]) -> bool:
    """Tell whether category and tier are the only filters in use; a currency alone filters nothing."""
    return given.keys() <= {"category", "tier", "currency"}


def _stored_counts(given: Mapping[str, Any]) -> list[tuple[str, str, int]] | None:
    """Return the stored counts for the filters, by category and tier; None where none are stored."""
    counts: QuerySet[ListingCount, tuple[str, str, int]] = _UNFILTERED_COUNTS.all()
    if not _has_only_category_and_tier(given):
        [(name, values), *others] = [(name, given[name]) for name in given if name not in {"category", "tier", "currency"}]
        value = values.single if name in {"license", "tag", "platform", "fileType"} else None
        if others or value is None:
            return None
        counts = _COUNTS.filter(name=name, value=value if name == "license" else normalised(value))
    return list(_in_category_and_tier(counts, given))


def _in_category_and_tier(counts: QuerySet[Any, Any], given: Mapping[str, Any]) -> QuerySet[Any, Any]:
    for name in ("category", "tier"):
        counts = ListingFilter.base_filters[name].filter(counts, given.get(name))
    return counts


def _total(listings: IndexRows, counts: Sequence[tuple[str, str, int]] | None) -> Total:
    if counts is not None:
        return Total(sum(listed for *_, listed in counts))
    found = listings.order_by().values("pk")[: COUNT_LIMIT + 1].count()
    return Total(min(found, COUNT_LIMIT), exact=found <= COUNT_LIMIT)


def _count_facets(listings: IndexRows, names: Collection[Facet]) -> Facets:
    """Return the facets of at most `FACET_LIMIT` listings, in no order."""
    columns = {name: _FACET_COLUMNS[name] for name in names}
    rows = list(listings.order_by().values_list(*columns.values())[:FACET_LIMIT])
    counters: dict[Facet, Counter[str]] = {
        name: Counter(offered["slug"] for row in rows for offered in orjson.loads(row[place]))
        if name == Facet.LICENSE
        else Counter(row[place] for row in rows)
        for place, name in enumerate(columns)
    }
    return {name.value: _most_frequent(counter) for name, counter in counters.items()}


def _stored_facets(given: Mapping[str, Any], counts: Sequence[tuple[str, str, int]], names: Collection[Facet]) -> Facets:
    counters: dict[str, Counter[str]] = {name: Counter() for name in names}
    for category, tier, listed in counts:
        for name, value in ((Facet.CATEGORY, category), (Facet.TIER, tier)):
            if name in names:
                counters[name][value] += listed
    if stored := {Facet.FILE_TYPE, Facet.LICENSE}.intersection(names):
        values = _in_category_and_tier(ListingCount.objects.filter(name__in=stored), given).values_list("name", "value")
        # Licence tiers are few and sort first.
        for name, value, listed in values.annotate(n=Sum("listings")).order_by("-name", "-n", "value")[: 2 * FACET_VALUES]:
            counters[name][value] = listed
    return {name.value: _most_frequent(counters[name]) for name in names}


def _most_frequent(counter: Counter[str]) -> list[tuple[str, int]]:
    ranked = sorted(((value, n) for value, n in counter.items() if value and n > 0), key=lambda pair: (-pair[1], pair[0]))
    return ranked[:FACET_VALUES]
