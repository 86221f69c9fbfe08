"""Reads of licences, and of the files and versions that they cover."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Exists, F, OuterRef, QuerySet

from catalog.models import Deliverable, Listing
from catalog.selectors.listings import approved_versions, deliverable_of_version, lookup, version_of_file
from marketplace.accounts.models import User
from marketplace.api.pagination import Page, newest_first
from marketplace.core.errors import NotFound

from .errors import FileBlocked, NotOwned
from .models import Download, Favourite, Licence
from .models.licences import CURRENT


def current_licences_of(user: User) -> QuerySet[Licence]:
    """Return the user's current licences, newest first."""
    return Licence.objects.filter(CURRENT, holder=user).order_by("-acquired_at", "-id")


def library_page(licences: QuerySet[Licence], *, limit: int, cursor: str | None = None) -> Page:
    """Return a page of current licences, newest first.

    Raises:
        InvalidInput: the cursor is not valid.
    """
    related = ("listing__approved_deliverable", "listing__store", "tier", "deliverable")
    return newest_first([licences.select_related(*related)], "acquired_at", limit=limit, cursor=cursor)


def licences_for(user: User, listing: Listing) -> list[Licence]:
    """Return the user's current licences for a listing, with their tiers."""
    return list(current_licences_of(user).filter(listing=listing).select_related("tier"))


def is_favourite(user: User, listing: Listing) -> bool:
    """Tell whether a listing is among the user's favourites."""
    return Favourite.objects.filter(user=user, listing=listing).exists()


def favourites_page(user: User, *, limit: int, cursor: str | None = None) -> tuple[int, Page]:
    """Return the number of a user's favourites, and a page of them, newest first, including listings that left the catalog.

    Raises:
        InvalidInput: the cursor is not valid.
    """
    kept = Favourite.objects.filter(user=user)
    page = newest_first([kept.select_related("listing").order_by("-added_at", "-id")], "added_at", limit=limit, cursor=cursor)
    return kept.count(), page


def owned_licence(user: User, id_or_slug: str, *, license_slug: str | None = None, version: str | None = None) -> Licence:
    """Return the user's licence for a listing, preferring one that is not suspended, then the last tier by `sort_order`, then the newest.

    The listing need not be on sale any more. With the version or the id of a file, a licence that covers it comes before all others.

    Raises:
        NotFound: there is no such listing, or it was never published.
        NotOwned: the user has no current licence for it, or none of this tier.
    """
    listing = Listing.objects.filter(**lookup(id_or_slug)).first()
    if listing is None:
        raise NotFound
    related = ("listing__approved_deliverable", "listing__store", "tier", "terms", "deliverable")
    owned = current_licences_of(user).filter(listing=listing).select_related(*related)
    if license_slug is not None:
        owned = owned.filter(tier__slug=license_slug)
    owned = owned.order_by(F("suspended_at").asc(nulls_first=True), "-tier__sort_order", "-acquired_at", "-id")
    licence = owned.first() if version is None else _covering(list(owned), listing, version)
    if licence is not None:
        # Saves a query when the holder is read.
        licence.holder = user
        return licence
    if listing.published_at is None:
        # Do not reveal drafts of others.
        raise NotFound
    raise NotOwned


def licence_to_download(user: User, id_or_slug: str, *, version: str | None = None) -> Licence:
    """Return the licence under which the user downloads a version, by default the newest: that of `owned_licence`, unless only another one covers a file that nobody blocked.

    Raises:
        NotFound, NotOwned: see `owned_licence`.
    """
    licence = owned_licence(user, id_or_slug, version=version)
    if version is None and current_file(licence) is None and (file := owned_versions(licence).first()) is not None:
        return owned_licence(user, id_or_slug, version=str(file.pk))
    return licence


def _covering(licences: Sequence[Licence], listing: Listing, version: str) -> Licence | None:
    """Return the first licence that covers a version and is not suspended, else the first one; None if there are none."""
    file = deliverable_of_version(listing, version) if len(licences) > 1 else None
    covering = (licence for licence in licences if file is not None and licence.suspended_at is None and _covers(licence, file))
    return next(covering, licences[0] if licences else None)


def current_file(licence: Licence) -> Deliverable | None:
    """Return the file that a licence's holder downloads now: the newest that it covers and nobody blocked; None if all are blocked.

    It is the listing's approved file, without a query, unless that one is blocked.
    """
    approved = licence.listing.approved_deliverable
    if approved is not None and approved.blocked_at is None:
        return approved
    return _unblocked_versions(licence).first()


def owned_versions(licence: Licence) -> QuerySet[Deliverable]:
    """Return the approved files that a licence, or another one of its holder for the listing, covers, newest first, without blocked ones.

    A licence covers the file that was bought and all later ones.
    """
    others = Licence.objects.none() if licence.holder is None else current_licences_of(licence.holder)
    others = others.filter(listing=licence.listing_id, suspended_at__isnull=True).exclude(pk=licence.pk).select_related("deliverable")
    return _unblocked_versions(licence, *others)


def _unblocked_versions(licence: Licence, *others: Licence) -> QuerySet[Deliverable]:
    """Return the approved files that one of these licences for a listing covers, newest first, without blocked ones."""
    versions = approved_versions(licence.listing).filter(blocked_at__isnull=True)
    starts = [start for each in (licence, *others) if (start := _covered_from(each)) is not None]
    return versions.filter(approved_at__gte=min(starts)) if starts else versions


def _covered_from(licence: Licence) -> datetime | None:
    """Return when the file that was bought was approved; for an upgrade, the file that was bought with the first licence."""
    first = licence
    while first.replaces is not None:
        first = first.replaces
    return first.deliverable.approved_at


def _covers(licence: Licence, file: Deliverable) -> bool:
    """Tell whether a licence covers an approved file."""
    start = _covered_from(licence)
    return start is None or (file.approved_at is not None and file.approved_at >= start)


def owned_version(licence: Licence, version: str) -> Deliverable:
    """Return the approved file with this version or id, if the licence covers it.

    Raises:
        NotFound: the listing has no such version.
        NotOwned: it is older than the bought one.
        FileBlocked: a reviewer marked it as malicious.
    """
    file = deliverable_of_version(licence.listing, version)
    if file is None or file.approved_at is None:
        raise NotFound
    if file.blocked_at is not None:
        raise FileBlocked
    if not _covers(licence, file):
        raise NotOwned("This version is older than the one that you bought; it is not part of the licence.")
    return file


def version_of(licence: Licence) -> str:
    """Return the version that a licence's holder downloads now."""
    return version_of_file(current_file(licence) or licence.deliverable, licence.listing)


def licences_of_orders(order_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Licence]:
    """Return the licences of these orders, by order id."""
    return {licence.order_id: licence for licence in Licence.objects.filter(order_id__in=list(order_ids))}


def downloads_by(user_id: uuid.UUID, listing_id: uuid.UUID) -> QuerySet[Download]:
    """Return a user's downloads of a listing under any licence, oldest first."""
    return Download.objects.select_related("link").filter(link__user=user_id, link__listing=listing_id).order_by("at", "id")


def wrongly_replaced() -> QuerySet[Licence]:
    """Return the licences that are replaced without an upgrade, or upgraded and not replaced; a consistency check expects none."""
    upgrade = Licence.objects.filter(replaces=OuterRef("pk"), revoked_at__isnull=True)
    return Licence.objects.filter(Exists(upgrade), replaced_at__isnull=True) | Licence.objects.filter(
        ~Exists(upgrade), replaced_at__isnull=False, revoked_at__isnull=True
    )
