"""Counts purchases: what `sort=popular` and search's ties go by.

A sale only adds a row, so that buyers of one best seller do not wait for each other at its count; `count_purchases` adds the
rows to the counts now and then. Popularity is as old as its last run, and exact after it. A purchase ends no cached answer: in
a busy shop none would live long enough to be used; a run that counts something does, once.
"""

import uuid
from collections.abc import Callable

from django.db import connection, transaction
from django.db.models import F

from marketplace.core.database import insert_rows
from marketplace.core.transitions import lock

from ..catalog_version import change_version
from ..models import ListingIndex, ListingStats, SearchDocument, UncountedPurchase

Progress = Callable[[int, int], None]
_TAKE = "DELETE FROM catalog_uncountedpurchase WHERE listing_id = %s RETURNING change"


def record_purchase(*, listing_id: uuid.UUID) -> None:
    """Note a purchase in the transaction of the order, in one statement."""
    insert_rows(UncountedPurchase, {"listing_id": listing_id, "change": 1})


def undo_purchase(*, listing_id: uuid.UUID) -> None:
    """Note that a purchase was refunded."""
    insert_rows(UncountedPurchase, {"listing_id": listing_id, "change": -1})


def count_purchases(*, progress: Progress = lambda _done, _total: None) -> int:
    """Add what was noted to the counts, a listing at a time; return of how many listings.

    Safe at any time, also twice at once: each waits for the other at a listing's count, and finds the rows gone.
    """
    noted = list(UncountedPurchase.objects.order_by("listing_id").values_list("listing_id", flat=True).distinct())
    for done, listing_id in enumerate(noted, 1):
        _count(listing_id)
        progress(done, len(noted))
    if noted:
        # Pages of before and after are never mixed: an order does not change under whoever turns its pages.
        change_version()
    return len(noted)


@transaction.atomic
def _count(listing_id: uuid.UUID) -> None:
    # The count's row before the index's, as where a listing is put in the index.
    ListingStats.objects.get_or_create(listing_id=listing_id)
    lock(ListingStats.objects.all(), pk=listing_id)
    # One statement: what is noted meanwhile waits for the next run.
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, [UncountedPurchase._meta.get_field("listing").get_db_prep_value(listing_id, connection)])
        change = sum(row[0] for row in cursor.fetchall())
    ListingStats.objects.filter(pk=listing_id).update(purchases=F("purchases") + change)
    ListingIndex.objects.filter(pk=listing_id).update(popularity=F("popularity") + change)
    SearchDocument.objects.filter(listing=listing_id).update(popularity=F("popularity") + change)
