"""Applies the changes of an edit page, all or none, and refuses to overwrite changes made elsewhere since the page was opened."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from django.db import transaction

from catalog.models import Category, Listing
from marketplace.accounts.models import User

from ..errors import ListingChanged
from .listings import DetailsUpdate, Licensing, RegionalPrices, lock_editable, set_licensing, set_regional_prices, update_details

HASH_CHARS = 16


def value_hash(value: Any) -> str:
    """Return a short hash of a field's value, by which a later change of it is detected."""
    plain = value.slug if isinstance(value, Category) else value
    return hashlib.sha256(orjson.dumps(plain)).hexdigest()[:HASH_CHARS]


def value_hashes(listing: Listing, names: Iterable[str]) -> dict[str, str]:
    """Return the hashes of the current values of these fields."""
    return {name: value_hash(getattr(listing, name)) for name in names}


@transaction.atomic
def edit_listing(
    *,
    listing: Listing,
    actor: User,
    seen: Mapping[str, str],
    details: DetailsUpdate | None = None,
    prices: RegionalPrices | None = None,
    licensing: Licensing | None = None,
) -> Listing:
    """Change several parts of a listing at once. A field that the page shows but does not change keeps what it was changed to elsewhere.

    `seen` holds the hashes (`value_hashes`) of the values that the page showed.

    Raises:
        AiPartsMismatch, SlugLocked, SlugTaken: what `update_details` says.
        ListingChanged: fields were changed both here and elsewhere; `fields` names them.
        ListingLocked: the listing is under review.
        PreconditionFailed: it has changed since the state that If-Match names.
    """
    listing = lock_editable(listing)
    wanted: dict[str, Any] = {**(details or {}), **(prices or {}), **(licensing or {})}
    now = value_hashes(listing, wanted)
    elsewhere = {name for name in wanted if seen.get(name) != now[name]}
    kept = {name for name in elsewhere if value_hash(wanted[name]) == seen.get(name)}
    conflicts = sorted(name for name in elsewhere - kept if value_hash(wanted[name]) != now[name])
    if conflicts:
        raise ListingChanged(fields=conflicts)
    for service, fields in ((update_details, details), (set_regional_prices, prices), (set_licensing, licensing)):
        changes: dict[str, Any] = {name: value for name, value in (fields or {}).items() if name not in kept}
        if changes:
            listing = service(listing=listing, actor=actor, **changes)
    return listing
