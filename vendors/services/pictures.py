"""What the pictures of a gallery show, and in which order they stand: a picture's slot is its place."""

import uuid
from typing import TypedDict, Unpack

from django.db import transaction

from catalog.models import Listing, Preview
from catalog.models.files import PreviewKind
from catalog.models.listings import ListingStatus
from catalog.services.visibility import listing_edited
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import NotFound

from ..errors import ThumbnailNeeded
from ..selectors import preview_of
from .files import lock_for_upload


class Changes(TypedDict, total=False):
    """What `update_picture` may change."""

    alt_text: str
    slot: int


@transaction.atomic
def update_picture(*, listing: Listing, preview_id: uuid.UUID | None, actor: User, **changes: Unpack[Changes]) -> Preview:
    """Say what a picture shows, or put it into another slot; the one that is there takes its place. What is left out stays.

    Raises:
        ListingLocked: the listing is under review.
        NotFound: it is not there, is another listing's, or is no picture.
        ThumbnailNeeded: a published listing would be left without the picture on its card.
        VendorNotApproved: the vendor was suspended meanwhile.
    """
    listing = lock_for_upload(listing)
    picture = preview_of(listing, preview_id)
    if picture.kind != PreviewKind.GALLERY:
        raise NotFound
    before = {"alt_text": picture.alt_text, "slot": picture.slot}
    picture.alt_text = changes.get("alt_text", picture.alt_text)
    slot = changes.get("slot", picture.slot)
    after = {"alt_text": picture.alt_text, "slot": slot}
    if after == before:
        return picture
    if slot == picture.slot:
        picture.save(update_fields=["alt_text"])
    else:
        _move(listing, picture, slot)
    # What buyers see of it has changed.
    listing.save(update_fields=["updated_at"])
    changed = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
    audit.record("listing.update_preview", listing, actor=actor, preview=str(picture.pk), changes=changed)
    if listing.status == ListingStatus.PUBLISHED:
        listing_edited(listing)
    return picture


def _move(listing: Listing, picture: Preview, slot: int) -> None:
    """Put the picture into the slot, and what is there into the picture's: no two rows may share a slot for a moment."""
    other = Preview.objects.filter(listing=listing, kind=PreviewKind.GALLERY, slot=slot).first()
    if other is None and picture.slot == 0 and listing.status == ListingStatus.PUBLISHED:
        raise ThumbnailNeeded
    Preview.objects.filter(pk=picture.pk).delete()
    if other is not None:
        other.slot = picture.slot
        other.save(update_fields=["slot"])
    picture.slot = slot
    picture.save(force_insert=True)
