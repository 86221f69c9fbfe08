"""A vendor's changes to a listing. Each locks the row, checks its state again and writes an audit entry."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypedDict, Unpack

from django.db import IntegrityError, transaction

from catalog.models import Category, Listing
from catalog.models.listings import ListingStatus
from catalog.services.transitions import lock_listing, require_etag
from catalog.services.visibility import listing_edited
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.database import violates

from .. import bounds
from ..errors import AiPartsMismatch, ListingLocked, SlugLocked, SlugTaken, TooManyDrafts
from ..models import VendorProfile
from ..selectors import unapproved_listings
from .limits import lock_vendor

# The audit log does not record the values of these fields, because its entries are kept when a draft is deleted.
_FREE_TEXTS = frozenset(
    {"title", "short_description", "description", "readme", "tags", "version", "file_type", "supported_platforms", "video_url", "ai_parts"}
)


class ListingFields(TypedDict, total=False):
    """Validated values of the fields of `Listing` that its vendor sets."""

    slug: str
    title: str
    short_description: str
    description: str
    category: Category
    tags: list[str]
    base_price_minor: int
    price_inr_minor: int | None
    price_eur_minor: int | None
    discount_bp: int
    tax_rate_bp: int
    file_type: str
    supported_platforms: str
    version: str
    video_url: str
    readme: str
    allowed_license_slugs: list[str] | None
    ai_training: str
    ai_origin: str
    ai_parts: str


def create_listing(*, profile: VendorProfile, actor: User, **fields: Unpack[ListingFields]) -> Listing:
    """Create a draft in the vendor's store; fields that are left out get the model's default.

    Raises:
        AiPartsMismatch: parts made with AI are described but not declared, or declared but not described.
        SlugTaken: another listing has the slug.
        TooManyDrafts: the vendor has `bounds.MAX_DRAFTS` listings that were never approved, as drafts or in review.
    """
    with _reported_constraints(), transaction.atomic():
        lock_vendor(profile.store)
        if unapproved_listings(profile.store).count() >= bounds.MAX_DRAFTS:
            raise TooManyDrafts(maximum=bounds.MAX_DRAFTS)
        listing = Listing.objects.create(store=profile.store, **fields)
        audit.record("listing.create", listing, actor=actor, to_state=listing.status)
    return listing


@transaction.atomic
def update_listing(*, listing: Listing, actor: User, **fields: Unpack[ListingFields]) -> Listing:
    """Change the listing; fields that are left out keep their value.

    Raises:
        AiPartsMismatch: parts made with AI are described but not declared, or declared but not described.
        ListingLocked: the listing itself, not only a new file of it, is under review.
        PreconditionFailed: it has changed since the state that If-Match names.
        SlugLocked: the slug is another one, and the listing was submitted before.
        SlugTaken: another listing has the slug.
    """
    listing = lock_editable(listing)
    before = {name: getattr(listing, name) for name in fields}
    changed = {name: value for name, value in fields.items() if value != before[name]}
    if not changed:
        return listing
    if "slug" in changed and listing.was_submitted:
        raise SlugLocked
    for name, value in changed.items():
        setattr(listing, name, value)
    with _reported_constraints(), transaction.atomic():
        listing.save(update_fields=changed)
    changes = {name: [_audited(before[name]), _audited(value)] for name, value in changed.items() if name not in _FREE_TEXTS}
    audit.record("listing.update", listing, actor=actor, changed=list(changed), changes=changes)
    listing_edited(listing)
    return listing


def lock_editable(listing: Listing) -> Listing:
    """Return the listing locked until the end of the transaction.

    Raises:
        ListingLocked: the listing itself, not only a new file of it, is under review.
        PreconditionFailed: it has changed since the state that If-Match names.
    """
    locked = lock_listing(listing.pk)
    require_etag(locked, listing.required_etags)
    ensure_editable(locked)
    return locked


def ensure_editable(listing: Listing) -> None:
    """Refuse a listing that is under review; a published one, of which only a new file is reviewed, can be edited.

    Raises:
        ListingLocked: it is.
    """
    if listing.status == ListingStatus.PENDING_REVIEW:
        raise ListingLocked(currentState=listing.status)


@contextmanager
def _reported_constraints() -> Iterator[None]:
    """Raise `SlugTaken` or `AiPartsMismatch` where the database refuses the row for that."""
    try:
        yield
    except IntegrityError as error:
        if violates(error, Listing, "listing_ai_parts_declared"):
            raise AiPartsMismatch from error
        if violates(error, Listing, "listing_slug_taken"):
            raise SlugTaken from error
        raise


def _audited(value: Any) -> Any:
    """Return the value as the audit log stores it: a category by its slug."""
    return value.slug if isinstance(value, Category) else value
