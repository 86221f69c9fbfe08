"""Reads of licences, and of the files and versions that they cover."""

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from catalog.models import Deliverable, Listing
from catalog.selectors.listings import approved_versions, deliverable_of_version, lookup
from marketplace.accounts.models import User
from marketplace.api.pagination import Page, newest_first
from marketplace.core.errors import NotFound

from .errors import FileBlocked, NotOwned
from .models import Licence


def live_licences_of(user: User) -> QuerySet[Licence]:
    """Return the user's licences that stand, newest first."""
    return Licence.objects.filter(buyer=user, revoked_at__isnull=True).order_by("-acquired_at", "-id")


def library_page(user: User, *, limit: int, cursor: str | None = None) -> tuple[int, Page]:
    """Return how many licences the user holds, and a page of them, newest first, with what is shown of each.

    Args:
        user: Whose library.
        limit: Licences on the page.
        cursor: That of the page before.

    Raises:
        InvalidInput: the cursor is not one of ours.
    """
    owned = live_licences_of(user)
    page = newest_first(
        [owned.select_related("listing__live_deliverable", "tier", "deliverable")], "acquired_at", limit=limit, cursor=cursor
    )
    return owned.count(), page


def live_tier_ids(user: User, listing: Listing) -> set[uuid.UUID]:
    """Return the tiers under which the user holds the listing."""
    return set(live_licences_of(user).filter(listing=listing).values_list("tier_id", flat=True))


def owned_licence(user: User, id_or_slug: str, *, license_slug: str | None = None) -> Licence:
    """Return the user's licence of a listing: the widest tier, then the newest.

    Whether the listing is still for sale does not matter to its owners.

    Args:
        user: Who asks.
        id_or_slug: The listing.
        license_slug: The tier, where another than the widest is meant.

    Raises:
        NotFound: there is no such listing, or it was never on sale.
        NotOwned: the user holds no live licence of it, or none of this tier.
    """
    listing = Listing.objects.filter(**lookup(id_or_slug)).first()
    if listing is None:
        raise NotFound
    related = ("listing__live_deliverable", "listing__store", "tier", "deliverable")
    owned = live_licences_of(user).filter(listing=listing).select_related(*related)
    if license_slug is not None:
        owned = owned.filter(tier__slug=license_slug)
    licence = owned.order_by("-tier__sort_order", "-acquired_at", "-id").first()
    if licence is not None:
        # It is at hand; who reads the licence's holder must not ask again.
        licence.buyer = user
        return licence
    if listing.published_at is None:
        # A draft of someone else: its existence is nobody's business.
        raise NotFound
    raise NotOwned


def current_file(licence: Licence) -> Deliverable | None:
    """Return what the licence's holder gets now: the last reviewed file, else the one that was bought; never a blocked one."""
    candidates = (licence.listing.live_deliverable, licence.deliverable)
    return next((file for file in candidates if file is not None and file.blocked_at is None), None)


def owned_versions(licence: Licence) -> QuerySet[Deliverable]:
    """Return the reviewed files that a licence covers, the newest first: the bought one and all since, but no blocked one."""
    versions = approved_versions(licence.listing).filter(blocked_at__isnull=True)
    bought_at = licence.deliverable.approved_at
    return versions if bought_at is None else versions.filter(approved_at__gte=bought_at)


def owned_version(licence: Licence, version: str) -> Deliverable:
    """Return the reviewed file of a label, or of an id, when the licence covers it.

    Raises:
        NotFound: the listing has no such version.
        NotOwned: it is older than what was bought.
        FileBlocked: a reviewer marked it as malicious.
    """
    file = deliverable_of_version(licence.listing, version)
    if file is None or file.approved_at is None:
        raise NotFound
    if file.blocked_at is not None:
        raise FileBlocked
    if licence.deliverable.approved_at is not None and file.approved_at < licence.deliverable.approved_at:
        raise NotOwned("This version is older than the one that you bought; it is not part of the licence.")
    return file


def version_of(licence: Licence) -> str:
    """Return the version that the licence's holder gets now."""
    return version_of_file(current_file(licence) or licence.deliverable, licence.listing)


def version_of_file(file: Deliverable, listing: Listing) -> str:
    """Return the label of a reviewed file; the listing's where the file was reviewed without one."""
    return file.version or listing.version


def licences_of_orders(order_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Licence]:
    """Return the licences that these orders granted, by order."""
    return {licence.order_id: licence for licence in Licence.objects.filter(order_id__in=list(order_ids))}


def licences_outside_of(order_ids: QuerySet[Any, Any]) -> QuerySet[Licence]:
    """Return the licences whose order is not among these: there should be none."""
    return Licence.objects.exclude(order_id__in=order_ids)
