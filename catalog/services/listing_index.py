"""Writes the browse index after changes of listings, stores, categories and licence tiers.

The caller holds the lock of the catalog's version (`change_version`), which keeps counts exact and changes from deadlocking.
Purchases do not wait for this lock: `count_purchases` counts them.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery, Value

from marketplace.jobs.policy import job

from .. import pricing
from ..catalog_version import change_version
from ..file_types import file_type_of
from ..labels import labels_of
from ..models import (
    Category,
    LicenseTier,
    Listing,
    ListingCount,
    ListingIndex,
    ListingLabel,
    ListingPrice,
    ListingStats,
    Preview,
    Store,
    StorePicture,
)
from ..models.files import PreviewKind, StorePictureKind
from ..models.listings import ListingStatus
from ..search.index import Progress, batches, no_progress, update_in_batches
from ..selectors.taxonomy import active_tiers

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CountKey = tuple[str, str, str, str]
_COUNTED_BY = ("category_slug", "tier", "name", "value")


@dataclass(frozen=True)
class IndexEntry:
    """The index data of a listing: the columns of its row, without its popularity, and its labels."""

    columns: dict[str, Any]
    labels: set[tuple[str, str]]

    @property
    def count_keys(self) -> list[CountKey]:
        """The keys of the counts that include the listing."""
        values = {("", ""), *self.labels, *(("license", offered["slug"]) for offered in self.columns["licenses"])}
        if self.columns["file_type"]:
            values.add(("fileType", self.columns["file_type"]))
        return [(self.columns["category_slug"], self.columns["tier"], name, value) for name, value in values]


def index_entry(
    listing: Listing, tiers: Sequence[LicenseTier], thumbnail: Preview | None = None, logo: uuid.UUID | None = None
) -> IndexEntry:
    """Return the index data of a listing on sale; `thumbnail` is its preview in gallery slot 0, `logo` the id of its store's logo."""
    return IndexEntry(
        columns={
            "slug": listing.slug,
            "title": listing.title,
            "category_slug": listing.category.slug,
            "category_name": listing.category.name,
            "store_slug": listing.store.slug,
            "store_name": listing.store.name,
            "store_logo": logo,
            "tier": listing.tier_requirement,
            "ai_training": listing.ai_training,
            "ai_origin": listing.ai_origin,
            "file_type": file_type_of(listing, listing.approved_deliverable),
            **_columns(pricing.current_prices(listing)),
            **_columns(pricing.list_prices(listing), "list_"),
            "discount_bp": listing.current_discount_bp,
            "discount_ends_at": listing.discount_ends_at,
            "licenses": [
                {"slug": tier.slug, **_columns(pricing.prices_of(listing, tier, tiers))} for tier in pricing.permitted_tiers(listing, tiers)
            ],
            "thumbnail": None if thumbnail is None else _thumbnail(thumbnail),
            "published_at": listing.published_at,
            # A constraint ensures that published listings have a time of publication.
            "newest_key": (EPOCH - (listing.published_at or EPOCH)) // timedelta(microseconds=1),
        },
        labels=set(labels_of(listing)),
    )


def refresh_listings(ids: Sequence[uuid.UUID]) -> int:
    """Insert, update or delete the rows of these listings; return how many differed."""
    tiers = active_tiers()
    return sum(_refresh(batch, tiers) for batch in batches(ids))


def refresh_store(store: Store) -> None:
    """Update the rows of a store that was opened, closed or renamed, or whose logo was changed."""
    indexed = ListingIndex.objects.filter(listing__store=store)
    if store.is_open:
        refresh_listings(list(Listing.objects.filter(store=store, index__isnull=True).values_list("pk", flat=True)))
        logo = _logos().filter(store=store).first()
        indexed.exclude(store_name=store.name, store_logo=logo).update(store_name=store.name, store_logo=logo)
    else:
        refresh_listings(list(indexed.values_list("pk", flat=True)))


def refresh_category(category: Category) -> None:
    """Update the rows of a renamed category."""
    ListingIndex.objects.filter(category_slug=category.slug).exclude(category_name=category.name).update(category_name=category.name)


def rebuild(progress: Progress = no_progress) -> tuple[int, int]:
    """Correct the whole index while the service runs; return how many listings and how many counts were wrong."""
    ids = list(Listing.objects.filter(status=ListingStatus.PUBLISHED).order_by("pk").values_list("pk", flat=True))
    ids += ListingIndex.objects.exclude(listing__status=ListingStatus.PUBLISHED).values_list("pk", flat=True)
    return update_in_batches(ids, refresh_listings, progress), _recount()


def add_to_counts(changes: Counter[CountKey]) -> None:
    """Add changes to the stored counts."""
    keys = sorted(key for key, change in changes.items() if change)
    for batch in batches(keys):
        parts = zip(_COUNTED_BY, zip(*batch, strict=True), strict=True)
        known = ListingCount.objects.filter(**{f"{name}__in": set(values) for name, values in parts})
        stored = {tuple(key): listings for *key, listings in known.values_list(*_COUNTED_BY, "listings")}
        rows = [ListingCount(**dict(zip(_COUNTED_BY, key, strict=True)), listings=stored.get(key, 0) + changes[key]) for key in batch]
        ListingCount.objects.bulk_create(rows, update_conflicts=True, unique_fields=_COUNTED_BY, update_fields=["listings"])


def price_rows(pk: uuid.UUID, entry: IndexEntry) -> list[dict[str, Any]]:
    """Return the columns of a listing's `ListingPrice` rows."""
    return [
        {"listing_id": pk} | {"license" if name == "slug" else name: value for name, value in offered.items()}
        for offered in entry.columns["licenses"]
    ]


def _refresh(ids: Sequence[uuid.UUID], tiers: Sequence[LicenseTier]) -> int:
    # Read under the lock, to see what other changes have committed.
    published = Listing.objects.filter(pk__in=ids, status=ListingStatus.PUBLISHED, store__is_open=True)
    on_sale = pricing.with_running_discount(published).select_related("store", "category", "approved_deliverable")
    on_sale = on_sale.annotate(store_logo=Subquery(_logos().filter(store=OuterRef("store"))))
    # The list of an archive's entries is long and not needed.
    on_sale = on_sale.defer("approved_deliverable__entries")
    thumbnails = {row.listing_id: row for row in Preview.objects.filter(listing__in=ids, kind=PreviewKind.GALLERY, slot=0)}
    wanted = {row.pk: index_entry(row, tiers, thumbnails.get(row.pk), row.store_logo) for row in on_sale}
    stored = {row.pk: _entry_of(row) for row in ListingIndex.objects.filter(pk__in=ids).prefetch_related("labels")}
    changed = {pk: entry for pk, entry in wanted.items() if stored.get(pk) != entry}
    gone = stored.keys() - wanted.keys()
    changes: Counter[CountKey] = Counter()
    stale = [*gone, *(changed.keys() & stored.keys())]
    for pk in stale:
        changes.subtract(stored[pk].count_keys)
    for entry in changed.values():
        changes.update(entry.count_keys)
    if stale:
        ListingLabel.objects.filter(listing__in=stale).delete()
        ListingPrice.objects.filter(listing__in=stale).delete()
        ListingIndex.objects.filter(pk__in=gone).delete()
    _write(changed, new=changed.keys() - stored.keys())
    add_to_counts(changes)
    return len(gone) + len(changed)


def _logos() -> QuerySet[StorePicture, uuid.UUID]:
    return StorePicture.objects.filter(kind=StorePictureKind.LOGO).values_list("pk", flat=True)


def _write(entries: dict[uuid.UUID, IndexEntry], new: Iterable[uuid.UUID]) -> None:
    if not entries:
        return
    ListingStats.objects.bulk_create([ListingStats(listing_id=pk) for pk in new], ignore_conflicts=True)
    # Locked against `count_purchases`: a purchase is counted either here or, once the row exists, by that.
    purchases = dict(ListingStats.objects.select_for_update().filter(pk__in=new).values_list("pk", "purchases"))
    rows = [ListingIndex(pk=pk, popularity=purchases.get(pk, 0), **entry.columns) for pk, entry in entries.items()]
    # Without popularity, which may be counted at this moment in existing rows.
    columns = list(next(iter(entries.values())).columns)
    ListingIndex.objects.bulk_create(rows, update_conflicts=True, unique_fields=["listing"], update_fields=columns)
    ListingLabel.objects.bulk_create(
        [ListingLabel(listing_id=pk, kind=kind, value=value) for pk, entry in entries.items() for kind, value in entry.labels]
    )
    ListingPrice.objects.bulk_create([ListingPrice(**row) for pk, entry in entries.items() for row in price_rows(pk, entry)])


def _entry_of(row: ListingIndex) -> IndexEntry:
    names = [field.attname for field in ListingIndex._meta.concrete_fields if not field.generated and not field.primary_key]
    columns = {name: getattr(row, name) for name in names if name != "popularity"}
    return IndexEntry(columns, {(label.kind, label.value) for label in row.labels.all()})


def _columns(prices: pricing.Prices, prefix: str = "") -> dict[str, int | None]:
    return {f"{prefix}price_usd": prices.usd or 0, f"{prefix}price_inr": prices.inr, f"{prefix}price_eur": prices.eur}


def _thumbnail(preview: Preview) -> dict[str, Any]:
    card = preview.renditions.get("card")
    shown = card or preview.details
    return {"url": f"{preview.url}?size=card" if card else preview.url, "width": shown.get("width"), "height": shown.get("height")}


def _true_counts() -> Counter[CountKey]:
    on_sale, prices, labels = ListingIndex.objects.order_by(), ListingPrice.objects.order_by(), ListingLabel.objects.order_by()
    grouped = (
        on_sale.values_list("category_slug", "tier", Value(""), Value("")),
        on_sale.exclude(file_type="").values_list("category_slug", "tier", Value("fileType"), "file_type"),
        prices.values_list("listing__category_slug", "listing__tier", Value("license"), "license"),
        labels.values_list("listing__category_slug", "listing__tier", "kind", "value"),
    )
    return Counter({tuple(key): listings for rows in grouped for *key, listings in rows.annotate(n=Count("*"))})


@transaction.atomic
def _recount() -> int:
    """Correct the stored counts, and return how many were wrong."""
    change_version()
    true = _true_counts()
    stored = Counter({(row.category_slug, row.tier, row.name, row.value): row.listings for row in ListingCount.objects.all()})
    wrong: Counter[CountKey] = Counter({key: true[key] - stored[key] for key in true.keys() | stored.keys()})
    add_to_counts(wrong)
    # Of values that no listing has any more.
    ListingCount.objects.filter(listings=0).delete()
    return sum(1 for change in wrong.values() if change)


@job()
def rebuild_listing_index() -> None:
    """Correct the browse index after a change of every price."""
    rebuild()
