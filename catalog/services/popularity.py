"""Counts purchases: what `sort=popular` and search's ties go by."""

import uuid

from django.db import transaction
from django.db.models import F

from ..models import ListingStats
from . import generation


@transaction.atomic
def record_purchase(*, listing_id: uuid.UUID) -> None:
    """Count a purchase, in the transaction of the order."""
    while not ListingStats.objects.filter(listing_id=listing_id).update(purchases=F("purchases") + 1):
        ListingStats.objects.bulk_create([ListingStats(listing_id=listing_id)], ignore_conflicts=True)
    generation.bump_purchases(listing_id)


@transaction.atomic
def undo_purchase(*, listing_id: uuid.UUID) -> None:
    """Take a refunded purchase back; the count never falls below zero."""
    if ListingStats.objects.filter(listing_id=listing_id, purchases__gt=0).update(purchases=F("purchases") - 1):
        generation.bump_purchases(listing_id)
