"""Updates the shelf, the read model for browsing, after changes of listings and stores.

The caller holds the lock of the catalog's version (`change_version`). That makes counts exact and prevents deadlocks between two changes.
It also makes changes of the catalog wait for each other, for a few milliseconds each: they are made by hand, by reviewers and vendors.
Purchases do not wait.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from .. import labels, pricing
from ..models import NO_INR, Listing, ListingStats, ShelfCount, ShelfItem, ShelfLabels
from ..models.listings import ListingStatus
from .catalog_version import change_version

BATCH = 500
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Progress = Callable[[int, int], None]
# The key of a count: category, tier and label.
CountKey = tuple[uuid.UUID, str, str]


def refresh_listings(ids: list[uuid.UUID]) -> int:
    """Insert, correct or delete the shelf rows of these listings; return how many were different."""
    return sum(_refresh(ids[start : start + BATCH]) for start in range(0, len(ids), BATCH))


def refresh_store(store_id: uuid.UUID) -> None:
    """Insert or delete the shelf rows of a store that was opened or closed; otherwise nothing is written."""
    missing = Listing.objects.filter(store=store_id, store__is_open=True, status=ListingStatus.PUBLISHED, shelf_item__isnull=True)
    refresh_listings(
        [
            *missing.values_list("pk", flat=True),
            *ShelfItem.objects.filter(store=store_id, store__is_open=False).values_list("pk", flat=True),
        ]
    )


def rebuild(progress: Progress) -> tuple[int, int]:
    """Correct the whole shelf and its counts, while the service runs; return how many listings and how many counts were wrong."""
    ids = list(Listing.objects.filter(status=ListingStatus.PUBLISHED).order_by("pk").values_list("pk", flat=True))
    ids += ShelfItem.objects.exclude(listing__status=ListingStatus.PUBLISHED).values_list("pk", flat=True)
    wrong = 0
    for start in range(0, len(ids), BATCH):
        # Changes wait for one batch, not for the whole.
        with transaction.atomic():
            change_version()
            wrong += _refresh(ids[start : start + BATCH])
        progress(min(start + BATCH, len(ids)), len(ids))
    return wrong, _recount()


def values_of(listing: Listing) -> dict[str, Any]:
    """Return the columns of a listing's shelf row, except for its purchases."""
    prices, published = pricing.sale_prices(listing), listing.published_at
    usd, inr = prices.usd or 0, prices.inr
    return {
        "store_id": listing.store_id,
        "category_id": listing.category_id,
        "tier": listing.tier_requirement,
        # Published listings have a time of publication: the table's own constraint.
        "newest": (EPOCH - published) // timedelta(microseconds=1) if published else 0,
        "price_up": NO_INR + usd if inr is None else inr,
        "price_down": NO_INR - usd if inr is None else -inr,
        "usd": usd,
        "inr": inr,
        "eur": prices.eur,
    }


def count_keys_of(category_id: uuid.UUID, tier: str, names: set[str]) -> list[CountKey]:
    """Return the keys of the counts that a listing belongs to."""
    return [(category_id, tier, label) for label in labels.counted(names)]


def count(changes: Counter[CountKey]) -> None:
    """Add to the counts, and take from them."""
    for (category_id, tier, label), change in sorted(changes.items(), key=repr):
        if not change:
            continue
        key = {"category_id": category_id, "tier": tier, "label": label}
        if not ShelfCount.objects.filter(**key).update(listings=F("listings") + change):
            ShelfCount.objects.create(listings=change, **key)


def _refresh(ids: list[uuid.UUID]) -> int:
    # Read under the lock: what another change has committed meanwhile is seen, stores included.
    wanted = {row.pk: row for row in Listing.objects.filter(pk__in=ids, status=ListingStatus.PUBLISHED, store__is_open=True)}
    there = {item.pk: item for item in ShelfItem.objects.filter(pk__in=ids).select_related("labels")}
    changes: Counter[CountKey] = Counter()
    gone = [there[pk] for pk in there.keys() - wanted.keys()]
    for item in gone:
        changes.subtract(count_keys_of(item.category_id, item.tier, labels.read(item.labels.labels)))
    ShelfLabels.objects.filter(pk__in=[item.pk for item in gone]).delete()
    ShelfItem.objects.filter(pk__in=[item.pk for item in gone]).delete()
    _place([row for pk, row in wanted.items() if pk not in there], changes)
    corrected = [_correct(there[pk], wanted[pk], changes) for pk in wanted.keys() & there.keys()]
    count(changes)
    return len(gone) + len(wanted.keys() - there.keys()) + sum(corrected)


def _place(listings: list[Listing], changes: Counter[CountKey]) -> None:
    """Put listings on the shelf that are not there."""
    ListingStats.objects.bulk_create([ListingStats(listing=row) for row in listings], ignore_conflicts=True)
    # Locked: a purchase or refund under way is counted here, or by itself once the item is there.
    bought = dict(ListingStats.objects.select_for_update().filter(pk__in=[row.pk for row in listings]).values_list("pk", "purchases"))
    ShelfItem.objects.bulk_create([ShelfItem(pk=row.pk, unpopularity=-bought[row.pk], **values_of(row)) for row in listings])
    names = {row.pk: labels.labels_of(row) for row in listings}
    ShelfLabels.objects.bulk_create([ShelfLabels(pk=row.pk, labels=labels.written(names[row.pk])) for row in listings])
    for row in listings:
        changes.update(count_keys_of(row.category_id, row.tier_requirement, names[row.pk]))


def _correct(item: ShelfItem, listing: Listing, changes: Counter[CountKey]) -> bool:
    """Correct one row; tell whether it was different."""
    values, names = values_of(listing), labels.labels_of(listing)
    before = labels.read(item.labels.labels)
    differing = {name: value for name, value in values.items() if getattr(item, name) != value}
    if not differing and names == before:
        return False
    changes.subtract(count_keys_of(item.category_id, item.tier, before))
    changes.update(count_keys_of(listing.category_id, listing.tier_requirement, names))
    # Never the purchases, which may be counted at this moment.
    ShelfItem.objects.filter(pk=item.pk).update(**values)
    ShelfLabels.objects.filter(pk=item.pk).update(labels=labels.written(names))
    return True


@transaction.atomic
def _recount() -> int:
    """Correct the counts from the rows, and return how many were wrong."""
    change_version()
    true = Counter(_count_keys())
    stored = Counter({(row.category_id, row.tier, row.label): row.listings for row in ShelfCount.objects.all()})
    wrong: Counter[CountKey] = Counter({key: true[key] - stored[key] for key in true.keys() | stored.keys()})
    count(wrong)
    # Counts of labels that no listing has any more.
    ShelfCount.objects.filter(listings=0).delete()
    return sum(1 for change in wrong.values() if change)


def _count_keys() -> Iterator[CountKey]:
    for category_id, tier, text in ShelfItem.objects.values_list("category_id", "tier", "labels__labels").iterator(chunk_size=5000):
        yield from count_keys_of(category_id, tier, labels.read(text))
