"""Alternative texts and order of gallery images; the order is that of their slots."""

import uuid

from django.db import transaction

from catalog.models import Listing, Preview
from catalog.models.files import PreviewKind
from catalog.models.listings import ListingStatus
from catalog.services.visibility import listing_edited
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import NotFound

from ..errors import ListingChanged, ThumbnailNeeded
from ..selectors import preview_of
from .editing import value_hash
from .files import lock_listing_for_vendor


@transaction.atomic
def update_picture(
    *, listing: Listing, preview_id: uuid.UUID | None, actor: User, seen: str = "", alt_text: str | None = None, slot: int | None = None
) -> Preview:
    """Set an image's alternative text, or move it to another slot, whose image gets the old one. What is None stays as it is.

    `seen` is the hash (`value_hash`) of the alternative text that a page showed; empty where any may be replaced.

    Raises:
        ListingChanged: the alternative text is no longer the one that was seen.
        ListingLocked: the listing is under review.
        NotFound: unknown, another listing's, or not a gallery image.
        PreconditionFailed: the listing has changed since the state that If-Match names.
        ThumbnailNeeded: a published listing would be left without its thumbnail.
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    listing = lock_listing_for_vendor(listing)
    picture = preview_of(listing, preview_id)
    if picture.kind != PreviewKind.GALLERY:
        raise NotFound
    if seen and value_hash(picture.alt_text) not in {seen, value_hash(alt_text)}:
        raise ListingChanged(fields=["alt_text"])
    before = {"alt_text": picture.alt_text, "slot": picture.slot}
    picture.alt_text = picture.alt_text if alt_text is None else alt_text
    slot = picture.slot if slot is None else slot
    after = {"alt_text": picture.alt_text, "slot": slot}
    if after == before:
        return picture
    if slot == picture.slot:
        picture.save(update_fields=["alt_text"])
    else:
        _move(listing, picture, slot)
    # Images are part of the public page, so the listing's time of change moves.
    listing.save(update_fields=["updated_at"])
    changed = [name for name in after if before[name] != after[name]]
    audit.record("listing.update_preview", listing, actor=actor, preview=str(picture.pk), changed=changed)
    listing_edited(listing)
    return picture


def _move(listing: Listing, picture: Preview, slot: int) -> None:
    """Move an image to a slot; an image that is there gets the old one.

    The moved row is deleted and inserted again, because a unique constraint forbids two rows of one slot even for a moment.
    """
    other = Preview.objects.filter(listing=listing, kind=PreviewKind.GALLERY, slot=slot).first()
    if other is None and picture.slot == 0 and listing.status == ListingStatus.PUBLISHED:
        raise ThumbnailNeeded
    Preview.objects.filter(pk=picture.pk).delete()
    if other is not None:
        other.slot = picture.slot
        other.save(update_fields=["slot"])
    picture.slot = slot
    picture.save()
