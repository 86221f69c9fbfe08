"""A vendor's discounts. They are added and ended but never changed, so that what buyers were shown stays true."""

import uuid
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from catalog import bounds as catalog_bounds
from catalog.models import Discount, Listing
from catalog.services.discounts import end_discount_of, update_discounted_listing
from catalog.services.transitions import lock_own_listing
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import NotFound

from ..errors import DiscountOverlaps, DiscountPeriodInvalid, TooManyDiscounts

_LONGEST = timedelta(days=catalog_bounds.MAX_DISCOUNT_DAYS)


@transaction.atomic
def add_discount(
    *, listing: Listing, percent: int, ends_at: datetime, starts_at: datetime | None = None, code: str = "", actor: User
) -> Discount:
    """Give a listing a discount from now, or from `starts_at`; a purchase must name its `code`, if it has one.

    Raises:
        NotFound: the listing is someone else's.
        DiscountPeriodInvalid: the discount has ended already, ends before it begins, lasts too long, or begins too late.
        DiscountOverlaps: another discount with the same code, or without one, applies at that time.
        TooManyDiscounts: too many discounts of the listing have not ended.
    """
    listing = lock_own_listing(listing, actor)
    now = Listing.objects.annotate(now=Now()).values_list("now", flat=True).get(pk=listing.pk)
    begins = now if starts_at is None else max(starts_at, now)
    if begins > now + _LONGEST or not begins < ends_at <= begins + _LONGEST:
        raise DiscountPeriodInvalid
    if listing.discounts.filter(ends_at__gt=now).count() >= catalog_bounds.MAX_DISCOUNTS:
        raise TooManyDiscounts(maximum=catalog_bounds.MAX_DISCOUNTS)
    code = code.upper()
    try:
        with transaction.atomic():
            discount = Discount.objects.create(listing=listing, percent=percent, code=code, starts_at=begins, ends_at=ends_at)
    except IntegrityError as error:
        if listing.discounts.filter(code=code, starts_at__lt=ends_at, ends_at__gt=begins).exists():
            raise DiscountOverlaps from error
        raise
    period = {"startsAt": begins.isoformat(), "endsAt": ends_at.isoformat()}
    audit.record("listing.add_discount", listing, actor=actor, percent=percent, code=code, **period)
    update_discounted_listing.call(discount_id=str(discount.pk))
    return Discount.objects.annotate(now=Now()).get(pk=discount.pk)


@transaction.atomic
def end_discount(*, listing: Listing, discount_id: uuid.UUID, actor: User) -> Discount:
    """End a discount now; one that has not begun is deleted. Quotes that were made with it keep their price.

    Raises:
        NotFound: the listing is someone else's, or it has no such discount, or the discount has ended.
    """
    listing = lock_own_listing(listing, actor)
    discount = end_discount_of(listing=listing, discount_id=discount_id, actor=actor)
    if discount is None:
        raise NotFound
    return discount
