"""Counts purchases, by which `sort=popular` and search results of equal score are ordered.

A sale only inserts a row, so that buyers of the same listing do not wait for each other; `count_purchases` adds the
rows to the counts from time to time. Popularity is exact as of its last run. A purchase invalidates no cached response: in
a busy shop none would last long enough to be used. A run that counts something invalidates them once.
"""

import uuid

from django.db import connection, transaction
from django.db.models import F

from marketplace.core.database import insert_rows
from marketplace.core.transitions import lock

from ..catalog_version import change_version
from ..models import ListingIndex, ListingStats, PurchaseCountChange, SearchDocument

_DELETE_RETURNING = "DELETE FROM catalog_purchasecountchange WHERE listing_id = %s RETURNING change"


def record_purchase(*, listing_id: uuid.UUID) -> None:
    """Record a purchase in the order's transaction, in one statement."""
    insert_rows(PurchaseCountChange, {"listing_id": listing_id, "change": 1})


def record_refund(*, listing_id: uuid.UUID) -> None:
    """Record the refund of a purchase."""
    insert_rows(PurchaseCountChange, {"listing_id": listing_id, "change": -1})


def count_purchases() -> int:
    """Add recorded purchases to the counts, one listing at a time; return the number of listings.

    Safe to run at any time, also in parallel: the second to lock a listing finds its rows deleted.
    """
    recorded = list(PurchaseCountChange.objects.order_by("listing_id").values_list("listing_id", flat=True).distinct())
    for listing_id in recorded:
        _count(listing_id)
    if recorded:
        # Invalidates cached pages, so that old and new pages are not mixed.
        change_version()
    return len(recorded)


@transaction.atomic
def _count(listing_id: uuid.UUID) -> None:
    # Locked before the index's row, in the same order as in `listing_index`.
    ListingStats.objects.get_or_create(listing_id=listing_id)
    lock(ListingStats.objects.all(), pk=listing_id)
    # One statement, so that rows inserted meanwhile are left for the next run.
    with connection.cursor() as cursor:
        cursor.execute(_DELETE_RETURNING, [PurchaseCountChange._meta.get_field("listing").get_db_prep_value(listing_id, connection)])
        change = sum(row[0] for row in cursor.fetchall())
    ListingStats.objects.filter(pk=listing_id).update(purchases=F("purchases") + change)
    ListingIndex.objects.filter(pk=listing_id).update(popularity=F("popularity") + change)
    SearchDocument.objects.filter(listing=listing_id).update(popularity=F("popularity") + change)
