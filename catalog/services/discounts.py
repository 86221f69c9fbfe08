"""Ends discounts, and updates the catalog when a discount begins and when it ends."""

import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition
from marketplace.jobs.policy import BULK_PRIORITY, job
from marketplace.ui.mail import mail

from .. import bounds
from ..models import Discount, Listing
from ..models.discounts import DiscountStatus
from .transitions import lock_listing, refuse_self_review
from .visibility import listing_edited

# The job waits at least this long for its next run, in case the worker's clock is ahead of the database's.
_PAUSE = timedelta(seconds=1)


@transaction.atomic
def end_discount_as_staff(*, discount: Discount, reason: str, actor: User) -> Discount:
    """End a discount of a vendor's now; the vendor gets the reason by mail.

    Raises:
        InvalidInput: the reason is not valid.
        InvalidTransition: it has ended.
        SelfReview: the store is the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    listing = lock_listing(discount.listing_id)
    refuse_self_review(listing, actor)
    ended = end_discount_of(listing=listing, discount_id=discount.pk, actor=actor, reason=reason)
    if ended is None:
        raise InvalidTransition("It has ended already.", currentState=DiscountStatus.ENDED)
    mail(listing.store.owner, "catalog/discount_ended", listing=listing, discount=ended, reason=reason)
    return ended


@transaction.atomic
def end_discount_of(*, listing: Listing, discount_id: uuid.UUID, actor: User, reason: str = "") -> Discount | None:
    """End a discount of a listing, which the caller has locked; delete one that has not begun. Quotes that were made with it keep their price.

    Returns:
        The discount; None if the listing has no such discount, or it has ended.
    """
    discount = Discount.objects.annotate(now=Now()).filter(listing=listing, ends_at__gt=Now(), pk=discount_id).first()
    if discount is None:
        return None
    stored = Discount.objects.filter(pk=discount.pk)
    if discount.starts_at >= discount.now:
        stored.delete()
    else:
        stored.update(ends_at=discount.now)
    discount.ends_at = discount.now
    audit.record("listing.end_discount", listing, actor=actor, reason=reason, percent=discount.percent, code=discount.code)
    if not discount.code:
        listing_edited(listing)
    return discount


@job()
@transaction.atomic
def update_discounted_listing(*, discount_id: str) -> None:
    """Update the catalog if a discount without a code runs or has ended, and again when it begins and when it ends."""
    discount = Discount.objects.annotate(now=Now()).filter(pk=discount_id, code="").first()
    # None also if it was deleted before it began.
    if discount is None:
        return
    listing = lock_listing(discount.listing_id)
    if discount.status != DiscountStatus.PLANNED:
        listing_edited(listing)
    if discount.status != DiscountStatus.ENDED:
        due = discount.starts_at if discount.status == DiscountStatus.PLANNED else discount.ends_at
        # Many discounts begin and end at midnight. Their jobs have a low priority, so that mails do not wait for them; a purchase decides its price without them.
        task = update_discounted_listing.using(run_after=max(due, timezone.now() + _PAUSE), priority=BULK_PRIORITY)
        task.enqueue(discount_id=discount_id)


def expired_discounts() -> QuerySet[Discount]:
    """Return the discounts that ended a while ago; orders record what was taken off and the code that was given."""
    return Discount.objects.filter(ends_at__lte=Now() - timedelta(days=bounds.ENDED_DISCOUNT_DAYS))
