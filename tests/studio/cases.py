"""Listings of a vendor in each of their states, with files that are really stored."""

import hashlib
import zlib

from catalog.models import Deliverable, Listing, ListingReview, Preview
from catalog.models.reviews import ReviewStatus
from catalog.services.review import approve_listing
from catalog.services.submission import withdraw_listing
from marketplace.storage import default_storage
from tests.factories import DeliverableFactory, PreviewFactory, UserFactory
from tests.shop import archive
from vendors.services.submission import check_and_submit


def with_candidate(listing: Listing, text: str = "glyphs") -> Listing:
    """Give the listing a file that nobody approved."""
    file = DeliverableFactory(listing=listing, approved_at=None)
    _store(file, archive(text))
    listing.candidate_deliverable = file
    listing.save()
    return listing


def ready(listing: Listing) -> Listing:
    """Give the listing all that a submission needs."""
    if not listing.previews.filter(kind="Gallery", slot=0).exists():
        picture(listing, 0)
    return with_candidate(listing)


def picture(listing: Listing, slot: int, width: int = 640) -> Preview:
    """Show a picture in the listing's gallery that is not really stored."""
    return PreviewFactory(listing=listing, slot=slot, details={"width": width, "height": width})


def submitted(listing: Listing) -> ListingReview:
    """Send the listing, ready or not before, to the reviewers."""
    if listing.candidate_deliverable is None:
        ready(listing)
    check_and_submit(listing=listing, actor=listing.store.owner)
    listing.refresh_from_db()
    return listing.reviews.get(status=ReviewStatus.PENDING)


def once_submitted(listing: Listing) -> Listing:
    """Return the listing as a draft that was withdrawn from review."""
    submitted(listing)
    return withdraw_listing(listing=listing, actor=listing.store.owner)


def published(listing: Listing) -> Listing:
    """Put the listing on sale, as a reviewer would."""
    approve_listing(review=submitted(listing), actor=UserFactory(is_staff=True))
    return Listing.objects.get(pk=listing.pk)


def _store(file: Deliverable, content: bytes) -> None:
    file.object_key, file.file_size = f"deliverables/{file.pk}", len(content)
    file.sha256, file.crc32 = hashlib.sha256(content).hexdigest(), zlib.crc32(content)
    default_storage.save_bytes(file.object_key, content)
    # As an upload leaves it: what nobody wrote to since is not read again.
    file.fingerprint = default_storage.fingerprint(file.object_key)
    file.save()
