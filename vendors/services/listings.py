"""A vendor's changes to a listing. Each locks the row, checks its state again and writes an audit entry."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Required, TypedDict, Unpack

from django.db import IntegrityError, transaction

from catalog.models import Category, Listing
from catalog.models.listings import ListingStatus
from catalog.services.transitions import lock_listing, require_etag
from catalog.services.visibility import listing_edited
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.database import violates

from ..errors import AiPartsMismatch, ListingLocked, SlugLocked, SlugTaken
from ..models import VendorProfile
from .limits import check_draft_limit, lock_vendor

# The audit log does not record the values of these fields, because its entries outlive deleted drafts.
_FREE_TEXTS = frozenset(
    {"title", "short_description", "description", "readme", "tags", "version", "file_type", "supported_platforms", "video_url", "ai_parts"}
)


class Details(TypedDict, total=False):
    """The fields that `create_listing` and `update_details` have in common."""

    title: str
    short_description: str
    description: str
    category: Category
    base_price_minor: int
    discount_bp: int
    tax_rate_bp: int
    file_type: str
    supported_platforms: str
    version: str
    video_url: str
    tags: list[str]
    ai_training: str
    ai_origin: str
    ai_parts: str


class DetailsUpdate(Details, total=False):
    """The fields that `update_details` may change; the slug only until the first submission."""

    slug: str


class RegionalPrices(TypedDict, total=False):
    """The fields that `set_regional_prices` may change; None clears a price."""

    price_inr_minor: int | None
    price_eur_minor: int | None


class Licensing(TypedDict, total=False):
    """The fields that `set_licensing` may change; None permits every active licence tier."""

    readme: str
    allowed_license_slugs: list[str] | None


class NewListing(Details, RegionalPrices, Licensing, total=False):
    """The fields that `create_listing` takes."""

    slug: Required[str]


def create_listing(*, profile: VendorProfile, actor: User, **fields: Unpack[NewListing]) -> Listing:
    """Create a draft in the vendor's store.

    Raises:
        AiPartsMismatch: parts made with AI are described but not declared, or declared but not described.
        SlugTaken: another listing has the slug.
        TooManyDrafts: the vendor has `bounds.MAX_DRAFTS` listings that were never approved, as drafts or in review.
    """
    with _reported_constraints(), transaction.atomic():
        lock_vendor(profile.store)
        check_draft_limit(profile.store)
        listing = Listing.objects.create(store=profile.store, **fields)
        audit.record("listing.create", listing, actor=actor, to_state=listing.status)
    return listing


def update_details(*, listing: Listing, actor: User, **fields: Unpack[DetailsUpdate]) -> Listing:
    """Change the details; fields that are left out keep their value.

    Raises:
        AiPartsMismatch: parts made with AI are described but not declared, or declared but not described.
        ListingLocked: the listing is under review.
        PreconditionFailed: it has changed since the state that If-Match names.
        SlugLocked: the slug is another one, and the listing was submitted before.
        SlugTaken: another listing has the slug.
    """
    return _edit(listing, "update", actor=actor, fields=fields)


def set_regional_prices(*, listing: Listing, actor: User, **prices: Unpack[RegionalPrices]) -> Listing:
    """Set or clear the prices in other currencies; fields that are left out keep their value.

    Raises:
        ListingLocked: the listing is under review.
        PreconditionFailed: it has changed since the state that If-Match names.
    """
    return _edit(listing, "set_regional_prices", actor=actor, fields=prices)


def set_licensing(*, listing: Listing, actor: User, **licensing: Unpack[Licensing]) -> Listing:
    """Set the permitted licence tiers and the readme; fields that are left out keep their value.

    Raises:
        ListingLocked: the listing is under review.
        PreconditionFailed: it has changed since the state that If-Match names.
    """
    return _edit(listing, "set_licensing", actor=actor, fields=licensing)


def lock_editable(listing: Listing) -> Listing:
    """Return the listing locked until the end of the transaction.

    Raises:
        ListingLocked: it is under review.
        PreconditionFailed: it has changed since the state that If-Match names.
    """
    locked = lock_listing(listing.pk)
    require_etag(locked, listing.required_etags)
    ensure_editable(locked)
    return locked


def ensure_editable(listing: Listing) -> None:
    """Refuse a listing that is under review.

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


@transaction.atomic
def _edit(listing: Listing, verb: str, *, actor: User, fields: Mapping[str, Any]) -> Listing:
    listing = lock_editable(listing)
    before = {name: getattr(listing, name) for name in fields}
    changed = [name for name, value in fields.items() if before[name] != value]
    if not changed:
        return listing
    if "slug" in changed and listing.was_submitted:
        raise SlugLocked
    for name in changed:
        setattr(listing, name, fields[name])
    with _reported_constraints(), transaction.atomic():
        listing.save(update_fields=changed)
    changes = {name: [_audited(before[name]), _audited(fields[name])] for name in changed if name not in _FREE_TEXTS}
    audit.record(f"listing.{verb}", listing, actor=actor, changed=changed, changes=changes)
    listing_edited(listing)
    return listing


def _audited(value: Any) -> Any:
    """Return the value as the audit log stores it: a category by its slug."""
    return value.slug if isinstance(value, Category) else value
