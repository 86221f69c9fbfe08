"""Updates the catalog when a discount begins and when it ends."""

import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from marketplace.jobs.policy import BULK_PRIORITY, job

from .. import bounds
from ..models import Discount
from ..models.discounts import DiscountStatus
from ..models.listings import ListingStatus
from .transitions import lock_listing
from .visibility import listing_edited

# Where the worker's clock is ahead of the database's, the job waits between attempts.
_PAUSE = timedelta(seconds=1)


@transaction.atomic
def update_discounted_listing(*, discount_id: uuid.UUID) -> None:
    """Update the catalog if a discount without a code runs or has ended, and again when it begins and when it ends."""
    discount = Discount.objects.annotate(now=Now()).filter(pk=discount_id, code="").first()
    # None also if it was deleted before it began.
    if discount is None:
        return
    listing = lock_listing(discount.listing_id)
    if listing.status == ListingStatus.PUBLISHED and discount.status != DiscountStatus.PLANNED:
        listing_edited(listing)
    if discount.status != DiscountStatus.ENDED:
        due = discount.starts_at if discount.status == DiscountStatus.PLANNED else discount.ends_at
        # Many discounts begin and end at midnight; mails do not wait for them, and prices are decided at the purchase.
        run_discount_update.using(run_after=max(due, timezone.now() + _PAUSE), priority=BULK_PRIORITY).enqueue(str(discount_id))


@job()
def run_discount_update(discount_id: str) -> None:
    """Call `update_discounted_listing` when a discount begins or ends."""
    update_discounted_listing(discount_id=uuid.UUID(discount_id))


def expired_discounts() -> QuerySet[Discount]:
    """Return the discounts that ended a while ago; orders say themselves what was taken off."""
    return Discount.objects.filter(ends_at__lte=Now() - timedelta(days=bounds.ENDED_DISCOUNT_DAYS))
