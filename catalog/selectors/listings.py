"""Listings as buyers see them: published, in an open store."""

import re
from enum import StrEnum
from typing import Any

from django.db.models import Case, F, QuerySet, When
from django.db.models.functions import Coalesce

from marketplace.core import bounds
from marketplace.core.errors import NotFound
from marketplace.core.ids import parse_id

from ..models import Listing, Preview
from ..models.listings import ListingStatus

_SLUG = re.compile(rf"[-a-zA-Z0-9_]{{1,{bounds.SLUG_CHARS}}}")


class Sort(StrEnum):
    """The orders of browsing (reference section 4)."""

    POPULAR = "popular"
    NEWEST = "newest"
    PRICE_ASC = "price_asc"
    PRICE_DESC = "price_desc"


# By the INR price shown; those without one last, by USD. Each order ends in the id, so that pages never overlap.
_USD_WHERE_NO_INR = Case(When(sale_inr_minor__isnull=True, then=F("sale_usd_minor")))
_ORDERS: dict[Sort, tuple[Any, ...]] = {
    Sort.POPULAR: (Coalesce("stats__purchases", 0).desc(), "-published_at", "id"),
    Sort.NEWEST: ("-published_at", "id"),
    Sort.PRICE_ASC: (F("sale_inr_minor").asc(nulls_last=True), _USD_WHERE_NO_INR.asc(nulls_last=True), "id"),
    Sort.PRICE_DESC: (F("sale_inr_minor").desc(nulls_last=True), _USD_WHERE_NO_INR.desc(nulls_last=True), "id"),
}


def listings_for_sale() -> QuerySet[Listing]:
    """Return what buyers may see and buy."""
    return Listing.objects.filter(status=ListingStatus.PUBLISHED, store__is_open=True)


def listing_for_sale(id_or_slug: str) -> Listing:
    """Return one listing with its store, category and reviewed file, and `popularity`, in one query.

    Raises:
        NotFound: there is none, or it is not for sale now.
    """
    listings = listings_for_sale().select_related("store", "category", "live_deliverable")
    listing = listings.annotate(popularity=Coalesce("stats__purchases", 0)).filter(**lookup(id_or_slug)).first()
    if listing is None:
        raise NotFound
    return listing


def lookup(id_or_slug: str) -> dict[str, Any]:
    """Return the lookup for an asset id or a slug.

    Raises:
        NotFound: it can be neither.
    """
    if row_id := parse_id(id_or_slug):
        return {"pk": row_id}
    if _SLUG.fullmatch(id_or_slug):
        return {"slug": id_or_slug}
    raise NotFound


def browse_rows(listings: QuerySet[Listing], *, sort: Sort, page: int, limit: int) -> list[tuple[Any, ...]]:
    """Return one page: id, title, INR sale price in minor units or None, tier requirement.

    The ids of the page come from the order alone; only then are their rows read, so that a deep page reads no rows it skips.
    """
    order = _ORDERS[sort]
    start = (page - 1) * limit
    ids = listings.order_by(*order).values("pk")[start : start + limit]
    rows = Listing.objects.filter(pk__in=ids).order_by(*order)
    return list(rows.values_list("id", "title", "sale_inr_minor", "tier_requirement"))


def preview_by_id(preview_id: str) -> Preview:
    """Return a preview with its listing and store, whoever may see it, in one query.

    Raises:
        NotFound: there is none.
    """
    row_id = parse_id(preview_id)
    preview = None if row_id is None else Preview.objects.select_related("listing__store").filter(pk=row_id).first()
    if preview is None:
        raise NotFound
    return preview
