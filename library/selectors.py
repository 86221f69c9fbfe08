"""Reads of licences and of what they give."""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from catalog.models import Deliverable, Listing
from catalog.selectors.listings import lookup
from marketplace.accounts.models import User
from marketplace.core.errors import NotFound

from .errors import NotOwned
from .models import Licence


def live_licences_of(user: User) -> QuerySet[Licence]:
    """Return the user's licences that stand, newest first."""
    return Licence.objects.filter(buyer=user, revoked_at__isnull=True).order_by("-acquired_at", "-id")


def library_page(user: User, *, limit: int, after: tuple[datetime, uuid.UUID] | None) -> tuple[int, list[Licence], bool]:
    """Return how many licences the user holds, a page of them with what is shown of each, and whether more follow.

    Args:
        user: Whose library.
        limit: Licences on the page.
        after: Time and id of the last licence of the page before.
    """
    owned = live_licences_of(user)
    page = owned.select_related("listing__live_deliverable", "tier", "deliverable")
    if after is not None:
        at, licence_id = after
        page = page.filter(Q(acquired_at__lt=at) | Q(acquired_at=at, id__lt=licence_id))
    rows = list(page[: limit + 1])
    return owned.count(), rows[:limit], len(rows) > limit


def live_tier_ids(user: User, listing: Listing) -> set[uuid.UUID]:
    """Return the tiers under which the user holds the listing."""
    return set(live_licences_of(user).filter(listing=listing).values_list("tier_id", flat=True))


def licence_to_download(user: User, id_or_slug: str) -> Licence:
    """Return the user's licence of a listing: the widest tier, then the newest.

    Whether the listing is still for sale does not matter to its owners.

    Raises:
        NotFound: there is no such listing, or it was never on sale.
        NotOwned: the user holds no live licence of it.
    """
    listing = Listing.objects.filter(**lookup(id_or_slug)).first()
    if listing is None:
        raise NotFound
    owned = (
        live_licences_of(user).filter(listing=listing).select_related("listing__live_deliverable", "listing__store", "tier", "deliverable")
    )
    licence = owned.order_by("-tier__sort_order", "-acquired_at", "-id").first()
    if licence is not None:
        return licence
    if listing.published_at is None:
        # A draft of someone else: its existence is nobody's business.
        raise NotFound
    raise NotOwned


def current_file(licence: Licence) -> Deliverable | None:
    """Return what the licence's holder gets now: the last reviewed file, else the one that was bought; never a blocked one."""
    candidates = (licence.listing.live_deliverable, licence.deliverable)
    return next((file for file in candidates if file is not None and file.blocked_at is None), None)


def version_of(licence: Licence) -> str:
    """Return the version that the licence's holder gets now."""
    return (current_file(licence) or licence.deliverable).version or licence.listing.version


def licences_of_orders(order_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Licence]:
    """Return the licences that these orders granted, by order."""
    return {licence.order_id: licence for licence in Licence.objects.filter(order_id__in=list(order_ids))}


def licences_outside_of(order_ids: QuerySet[Any, Any]) -> QuerySet[Licence]:
    """Return the licences whose order is not among these: there should be none."""
    return Licence.objects.exclude(order_id__in=order_ids)
