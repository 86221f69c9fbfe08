"""Listings as buyers see them: published, in an open store."""

import re
from typing import Any

from django.db.models import QuerySet, Sum
from django.db.models.functions import Coalesce

from marketplace.core import bounds
from marketplace.core.errors import NotFound
from marketplace.core.ids import parse_id

from ..models import Listing, ListingStats, Preview, Store, UncountedPurchase
from ..models.listings import ListingStatus

_SLUG = re.compile(rf"[-a-zA-Z0-9_]{{1,{bounds.SLUG_CHARS}}}")


def listings_for_sale() -> QuerySet[Listing]:
    """Return what buyers may see and buy."""
    return Listing.objects.filter(status=ListingStatus.PUBLISHED, store__is_open=True)


def published_in(store: Store) -> int:
    """Return how many listings of a store are published, whether it is open or not."""
    return Listing.objects.filter(store=store, status=ListingStatus.PUBLISHED).count()


def purchases_of(listing: Listing) -> int:
    """Return how many purchases stand, those that the count does not have yet included."""
    counted = ListingStats.objects.filter(listing=listing).values_list("purchases", flat=True).first() or 0
    uncounted: int = UncountedPurchase.objects.filter(listing=listing).aggregate(n=Coalesce(Sum("change"), 0))["n"]
    return counted + uncounted


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


# What the detail shows; the texts that only buyers and programs get are left where they are.
_SHOWN = (
    *("slug", "title", "short_description", "description", "tags", "file_type", "supported_platforms", "version", "video_url"),
    *("base_price_minor", "price_inr_minor", "price_eur_minor", "discount_bp", "tax_rate_bp", "allowed_license_slugs"),
    *("tier_requirement", "updated_at", "published_at", "category__slug", "category__name", "store__slug", "store__name"),
    *("live_deliverable__file_size", "live_deliverable__sha256", "live_deliverable__technical"),
)


def detail_for_sale(id_or_slug: str) -> Listing:
    """Return what `listing_for_sale` does as far as the detail shows it, with its previews, in two queries.

    Raises:
        NotFound: there is none, or it is not for sale now.
    """
    listings = listings_for_sale().select_related("store", "category", "live_deliverable").only(*_SHOWN)
    listings = listings.annotate(popularity=Coalesce("stats__purchases", 0)).prefetch_related("previews")
    listing = listings.filter(**lookup(id_or_slug)).first()
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
