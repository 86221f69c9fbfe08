"""Counts purchases: what `sort=popular` and search's ties go by.

A purchase ends no cached answer: in a busy shop none would live long enough to be used. So popularity is shown at most
`api.caching.SECONDS` late, and buyers wait for nobody who buys something else.
"""

import uuid

from django.db import transaction
from django.db.models import F

from marketplace.core.rows import insert

from ..models import ListingStats, ShelfItem

_COUNT_UP = "ON CONFLICT (listing_id) DO UPDATE SET purchases = catalog_listingstats.purchases + 1"


# No savepoint: what fails here fails the order.
@transaction.atomic(savepoint=False)
def record_purchase(*, listing_id: uuid.UUID) -> None:
    """Count a purchase, in the transaction of the order, in two statements."""
    insert(ListingStats, {"listing_id": listing_id, "purchases": 1}, then=_COUNT_UP)
    ShelfItem.objects.filter(pk=listing_id).update(unpopularity=F("unpopularity") - 1)


@transaction.atomic
def undo_purchase(*, listing_id: uuid.UUID) -> None:
    """Take a refunded purchase back; the count never falls below zero."""
    if ListingStats.objects.filter(listing_id=listing_id, purchases__gt=0).update(purchases=F("purchases") - 1):
        ShelfItem.objects.filter(pk=listing_id).update(unpopularity=F("unpopularity") + 1)
