"""Listings as cards: image, title, store and price."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, F, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce

from marketplace.core.errors import NotFound

from ..labels import normalised
from ..models import Category, LabelKind, LicenseTier, Listing, ListingCount, ListingIndex, ListingLabel, Store
from ..pricing import Prices
from .browse import CARDS, FACET_VALUES, Row, rows_of

CARD = "card"
# Limits of the query for related listings. More listings are scanned than compared, because many with a common tag may be of another category.
MAX_TAGGED, MAX_POPULAR, MAX_SCANNED = 60, 20, 2000


@dataclass(frozen=True)
class Picture:
    """An image with its size, so that the layout does not shift when it loads."""

    url: str
    width: int
    height: int


def card_of(row: Row) -> Row:
    """Return a row of `CARDS` with `prices`, `list_prices` and `picture`, which is None unless it has an image of a known size."""
    shown = row["thumbnail"]
    return row | {
        "prices": Prices(row["price_usd"], row["price_inr"], row["price_eur"]),
        "list_prices": Prices(row["list_price_usd"], row["list_price_inr"], row["list_price_eur"]),
        "picture": Picture(**shown) if shown and shown["width"] and shown["height"] else None,
    }


def cards_of(ids: Iterable[uuid.UUID]) -> list[Row]:
    """Return the cards of these listings in this order, without those that are no longer on sale."""
    wanted = list(ids)
    found = rows_of(wanted)
    return [card_of(found[listing_id]) for listing_id in wanted if listing_id in found]


def popular_cards(*, limit: int) -> list[Row]:
    """Return the most popular listings, in one query."""
    return [card_of(row) for row in CARDS.order_by("popular_key", "newest_key", "pk")[:limit]]


def featured_cards(*, limit: int) -> list[Row]:
    """Return the editors' list for the start page, without listings that are not on sale, in one query."""
    listings = CARDS.filter(listing__featured__isnull=False)
    return [card_of(row) for row in listings.order_by("listing__featured__position", "listing__featured__id")[:limit]]


def related_cards(listing: Listing, *, limit: int) -> list[Row]:
    """Return listings of the same category, those with the most tags in common first and then by popularity, in one query.

    Of the category, at most `MAX_TAGGED` listings with a common tag, among the first `MAX_SCANNED` that have one, and the `MAX_POPULAR` most
    popular listings are compared.
    """
    category = ListingIndex.objects.filter(category_slug=listing.category.slug)
    shared_labels = ListingLabel.objects.filter(kind=LabelKind.TAG, value__in=[normalised(tag) for tag in listing.tags])
    tagged = category.filter(pk__in=shared_labels.values("listing")[:MAX_SCANNED]).values("pk")[:MAX_TAGGED]
    popular = category.order_by("popular_key", "newest_key", "pk").values("pk")[:MAX_POPULAR]
    # Each in a query of its own: SQLite allows no limit in the parts of a union.
    candidates = category.filter(pk__in=tagged).values("pk").union(category.filter(pk__in=popular).values("pk"))
    common = shared_labels.filter(listing=OuterRef("pk")).order_by().values("listing").annotate(n=Count("*")).values("n")
    found = CARDS.filter(pk__in=candidates).exclude(pk=listing.pk).annotate(common=Coalesce(Subquery(common), 0))
    return [card_of(row) for row in found.order_by("-common", "popular_key", "newest_key", "pk")[:limit]]


def open_store_by_slug(slug: str) -> Store:
    """Return an open store.

    Raises:
        NotFound: no open store has this slug.
    """
    store = Store.objects.filter(slug=slug, is_open=True).first()
    if store is None:
        raise NotFound
    return store


def newest_slugs(limit: int) -> list[tuple[str, datetime]]:
    """Return slug and last change of the newest listings on sale."""
    return list(ListingIndex.objects.order_by("newest_key", "pk").values_list("slug", "listing__updated_at")[:limit])


def slugs_on_sale(start: int, limit: int) -> list[tuple[str, datetime]]:
    """Return slug and last change of `limit` listings on sale from offset `start`, oldest first."""
    ids = ListingIndex.objects.order_by("pk").values("pk")[start : start + limit]
    return list(ListingIndex.objects.filter(pk__in=ids).order_by("pk").values_list("slug", "listing__updated_at"))


def picture_of(preview_id: Any, details: dict[str, Any], renditions: dict[str, Any], *, small: bool = True) -> Picture | None:
    """Return a gallery image, or its smaller copy if there is one and `small` is true; None if its size is not known."""
    copy = renditions.get(CARD) if small else None
    shown = copy or details
    if "width" not in shown or "height" not in shown:
        return None
    return Picture(f"/api/v1/previews/{preview_id}" + (f"?size={CARD}" if copy else ""), shown["width"], shown["height"])


@dataclass(frozen=True)
class FilterNames:
    """Names of categories and licence tiers by slug, in their order."""

    categories: dict[str, str]
    licenses: dict[str, str]


def filter_names(chosen: Mapping[str, str]) -> FilterNames:
    """Return the active categories and licence tiers, and those that are `chosen` by their slugs, in one query."""
    columns = ("sort_order", "slug", "name")
    is_category, is_license = (Q(is_active=True) | Q(slug=chosen.get(name, "")) for name in ("category", "license"))
    categories: QuerySet[Any, Any] = Category.objects.filter(is_category).order_by().values_list(Value("category"), *columns)
    licenses: QuerySet[Any, Any] = LicenseTier.objects.filter(is_license).order_by().values_list(Value("license"), *columns)
    rows = sorted(categories.union(licenses, all=True))
    names = {kind: {slug: name for row_kind, _, slug, name in rows if row_kind == kind} for kind in ("category", "license")}
    return FilterNames(names["category"], names["license"])


@dataclass(frozen=True)
class FilterCounts:
    """Number of listings on sale by category, and by file type in the chosen category."""

    categories: dict[str, int]
    file_types: dict[str, int]


def filter_counts(category: str | None, tier: str | None) -> FilterCounts:
    """Return the stored counts of listings for an account tier, of file types in a category, in one query; None stands for all."""
    types = Q(name="fileType") if category is None else Q(name="fileType", category_slug=category)
    counted = ListingCount.objects.filter(Q(name="") | types, **({} if tier is None else {"tier": tier}))
    value = Case(When(name="", then=F("category_slug")), default=F("value"))
    rows = counted.order_by().values_list("name", value).annotate(n=Sum("listings")).filter(n__gt=0)
    # Categories sort first.
    counts = list(rows.order_by("name", "-n", value)[: 2 * FACET_VALUES])
    return FilterCounts({slug: n for name, slug, n in counts if not name}, {file_type: n for name, file_type, n in counts if name})
