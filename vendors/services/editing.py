"""Applies the changes of an edit page, all or none, and refuses to overwrite changes made elsewhere since the page was opened."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

import orjson
from django.db import transaction

from catalog.models import Category, Listing
from marketplace.accounts.models import User

from ..errors import ListingChanged
from .listings import ListingFields, lock_editable, update_listing


def value_hash(value: Any) -> str:
    """Return a short hash of a field's value, by which a later change of it is detected."""
    plain = value.slug if isinstance(value, Category) else value
    return hashlib.sha256(orjson.dumps(plain)).hexdigest()[:16]


def value_hashes(listing: Listing, names: Iterable[str]) -> dict[str, str]:
    """Return the hashes of the current values of these fields."""
    return {name: value_hash(getattr(listing, name)) for name in names}


@transaction.atomic
def edit_listing(*, listing: Listing, actor: User, seen: Mapping[str, str], **fields: Unpack[ListingFields]) -> Listing:
    """Change a listing as `update_listing` does. A field that the page shows but does not change keeps what it was changed to elsewhere.

    `seen` holds the hashes (`value_hashes`) of the values that the page showed.

    Raises:
        AiPartsMismatch, ListingLocked, PreconditionFailed, SlugLocked, SlugTaken: what `update_listing` says.
        ListingChanged: fields were changed both here and elsewhere; `fields` names them.
    """
    listing = lock_editable(listing)
    current = value_hashes(listing, fields)
    wanted = {name: value_hash(value) for name, value in fields.items()}
    changed_elsewhere = {name for name in fields if current[name] != seen.get(name)}
    unchanged_here = {name for name in changed_elsewhere if wanted[name] == seen.get(name)}
    conflicts = sorted(name for name in changed_elsewhere - unchanged_here if wanted[name] != current[name])
    if conflicts:
        raise ListingChanged(fields=conflicts)
    changes: dict[str, Any] = {name: value for name, value in fields.items() if name not in unchanged_here}
    return update_listing(listing=listing, actor=actor, **changes)
