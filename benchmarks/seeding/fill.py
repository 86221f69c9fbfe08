"""Writes a made-up catalog: vendors, stores, listings, files, counters, and what browsing and searching need."""

import uuid
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

from django.db import transaction

from catalog.catalog_version import change_version
from catalog.models import Category, Deliverable, Listing, ListingIndex, ListingLabel, ListingPrice, ListingStats, Store
from catalog.models.listings import AiOrigin, AiTraining, ListingStatus, UpdateStatus
from catalog.selectors.taxonomy import active_tiers
from catalog.services import listing_index
from marketplace.accounts.models import User

from . import bulk
from .rows import NEWEST, SPAN, Maker, SeedListing, SeedStore, batches

BATCH = 5_000
_ATTRIBUTES = {"store": "store_id", "category": "category_id", "approved_deliverable": "approved_deliverable_id"}
Progress = Callable[[int, int], None]


class SeedPresent(Exception):
    """The listings of this seed already exist."""


def fill(*, listings: int, seed: int, progress: Progress = lambda _done, _total: None) -> int:
    """Write published listings; return the number of their vendors.

    Args:
        listings: The number of listings.
        seed: The same seed gives the same rows.
        progress: Called with the number of listings written so far, and their total.

    Raises:
        SeedPresent: the listings of this seed already exist.
    """
    if Store.objects.filter(slug=f"seed-{seed}-0").exists():
        raise SeedPresent
    categories = {row.slug: row for row in Category.objects.filter(is_active=True).order_by("sort_order", "slug")}
    maker = Maker(seed, list(categories))
    stores = maker.stores(listings)
    with transaction.atomic():
        _write_stores(stores)
    done = 0
    for batch in batches(maker.listings(listings, stores), BATCH):
        with transaction.atomic():
            change_version()
            _write_listings(batch, categories, {store.id: Store(id=store.id, slug=store.slug, name=store.name) for store in stores})
        done += len(batch)
        progress(done, listings)
    bulk.analyze()
    return len(stores)


def _write_stores(stores: list[SeedStore]) -> None:
    # Nobody signs in as a made-up vendor.
    unusable = "!seed"
    bulk.insert(
        User,
        [
            {
                "id": store.owner_id,
                "email": f"{store.slug}@seed.invalid",
                "name": store.name,
                "password": unusable,
                "tier": "free",
                "is_active": False,
                "is_staff": False,
                "is_superuser": False,
                "date_joined": NEWEST - SPAN,
            }
            for store in stores
        ],
    )
    bulk.insert(
        Store, [{"id": store.id, "owner": store.owner_id, "name": store.name, "slug": store.slug, "is_open": True} for store in stores]
    )


def _write_listings(batch: list[SeedListing], categories: dict[str, Category], stores: dict[uuid.UUID, Store]) -> None:
    """Write listings and their files in one transaction: they refer to each other, which the database checks at its end."""
    bulk.insert(Listing, [_listing(row, categories[row.category].pk) for row in batch])
    bulk.insert(Deliverable, [_file(row) for row in batch])
    bulk.insert(ListingStats, [{"listing": row.id, "purchases": row.purchases} for row in batch])
    _write_index(batch, categories, stores)


def _write_index(batch: list[SeedListing], categories: dict[str, Category], stores: dict[uuid.UUID, Store]) -> None:
    changes: Counter[listing_index.CountKey] = Counter()
    tiers = active_tiers()
    rows, labels, prices = [], [], []
    for row in batch:
        # As it will be read from the database.
        listing = Listing(**{_ATTRIBUTES.get(name, name): value for name, value in _listing(row, categories[row.category].pk).items()})
        listing.category, listing.store = categories[row.category], stores[row.store_id]
        entry = listing_index.index_entry(listing, tiers)
        rows.append({"listing": row.id, "popularity": row.purchases} | entry.columns)
        labels += [{"listing": row.id, "kind": kind, "value": value} for kind, value in entry.labels]
        prices += listing_index.price_rows(row.id, entry)
        changes.update(entry.count_keys)
    bulk.insert(ListingIndex, rows)
    bulk.insert(ListingLabel, labels)
    bulk.insert(ListingPrice, prices)
    listing_index.add_to_counts(changes)


def _listing(row: SeedListing, category_id: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "store": row.store_id,
        "title": row.title,
        "slug": row.slug,
        "short_description": row.summary,
        "description": row.description,
        "category": category_id,
        "tags": row.tags,
        "currency": "USD",
        "base_price_minor": row.usd,
        "price_inr_minor": row.inr,
        "price_eur_minor": row.eur,
        "discount_bp": row.discount_bp,
        "tax_rate_bp": row.tax_rate_bp,
        "file_type": row.file_type,
        "supported_platforms": row.platforms,
        "version": row.version,
        "video_url": "",
        "readme": "",
        "allowed_license_slugs": row.licences,
        "ai_training": AiTraining.FORBIDDEN.value,
        "ai_origin": AiOrigin.UNDECLARED.value,
        "ai_parts": "",
        "tier_requirement": row.tier,
        "status": ListingStatus.PUBLISHED.value,
        "update_status": UpdateStatus.NONE.value,
        "approved_deliverable": row.file_id,
        "created_at": row.published_at,
        "updated_at": row.published_at,
        "submitted_at": row.published_at,
        "published_at": row.published_at,
    }


def _file(row: SeedListing) -> dict[str, Any]:
    return {
        "id": row.file_id,
        "listing": row.id,
        # No object is stored under it: downloads of a made-up asset fail with 503.
        "object_key": f"deliverables/{row.file_id}",
        "original_filename": f"{row.slug}.zip",
        "file_size": row.file_size,
        "sha256": row.sha256,
        "crc32": zlib.crc32(row.id.bytes),
        "format": "zip",
        "technical": {"format": "zip", "entryCount": 3, "uncompressedSize": row.file_size, "contentsByExtension": {"otf": 2, "txt": 1}},
        "version": row.version,
        "uploaded_at": row.published_at,
        "approved_at": row.published_at,
    }
