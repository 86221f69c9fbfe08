"""Applies the changes of an edit page, all or none, and refuses to overwrite changes made elsewhere since the page was opened."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from django.db import transaction

from catalog.models import Category, Listing
from marketplace.accounts.models import User

from ..errors import ListingChanged
from .listings import Details, Licensing, RegionalPrices, lock_editable, set_licensing, set_regional_prices, update_details

MARK_CHARS = 16


def mark_of(value: Any) -> str:
    """Return a short mark that another value does not have."""
    plain = value.slug if isinstance(value, Category) else value
    return hashlib.sha256(orjson.dumps(plain)).hexdigest()[:MARK_CHARS]


def marks_of(listing: Listing, names: Iterable[str]) -> dict[str, str]:
    """Return the marks of these fields as they are now."""
    return {name: mark_of(getattr(listing, name)) for name in names}


@transaction.atomic
def edit_listing(
    *,
    listing: Listing,
    actor: User,
    seen: Mapping[str, str],
    details: Details | None = None,
    prices: RegionalPrices | None = None,
    licensing: Licensing | None = None,
) -> Listing:
    """Change several parts at once. A field that this page left as it saw it keeps what someone else made of it meanwhile.

    Args:
        listing: The vendor's.
        actor: The vendor.
        seen: The marks of the fields as the page showed them.
        details: As for `update_details`.
        prices: As for `set_regional_prices`.
        licensing: As for `set_licensing`.

    Raises:
        ListingChanged: a field was changed here and elsewhere; `fields` names it.
        ListingLocked: the listing is under review.
    """
    listing = lock_editable(listing)
    wanted: dict[str, Any] = {**(details or {}), **(prices or {}), **(licensing or {})}
    now = marks_of(listing, wanted)
    elsewhere = {name for name in wanted if seen.get(name) != now[name]}
    kept = {name for name in elsewhere if mark_of(wanted[name]) == seen.get(name)}
    conflicts = sorted(name for name in elsewhere - kept if mark_of(wanted[name]) != now[name])
    if conflicts:
        raise ListingChanged(fields=conflicts)
    for service, fields in ((update_details, details), (set_regional_prices, prices), (set_licensing, licensing)):
        changes: dict[str, Any] = {name: value for name, value in (fields or {}).items() if name not in kept}
        if changes:
            listing = service(listing=listing, actor=actor, **changes)
    return listing
