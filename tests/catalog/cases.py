"""Listings in each state, brought there by the services."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin

from catalog.admin.reviews import ListingReviewAdmin
from catalog.models import Deliverable, Listing, ListingReview
from catalog.models.listings import ListingStatus
from catalog.models.reviews import ReviewStatus
from catalog.services import review as services
from catalog.services import submission
from marketplace.accounts.models import User
from marketplace.core.ids import new_id
from tests.factories import ListingFactory, UserFactory

PASSED = [
    {"name": name, "passed": True, "detail": "", "warning": ""} for name in ("file_integrity", "preview_thumbnail", "pricing", "licensing")
]
FINDING = {"code": "file_broken", "field": "file", "message": "It does not open.", "hint": "Zip it again."}


def make_deliverable(listing: Listing, **fields: Any) -> Deliverable:
    """Return a file of the listing, whose bytes are nowhere."""
    key = new_id()
    values = {"original_filename": "font.otf", "file_size": 1000, "sha256": key.hex * 2, "crc32": 1, "format": "otf"}
    return Deliverable.objects.create(listing=listing, object_key=f"deliverables/{key}", **(values | fields))


def add_candidate(listing: Listing) -> Listing:
    """Return the listing with a new file that no one reviewed."""
    listing.candidate_deliverable = make_deliverable(listing)
    listing.save()
    return listing


def draft(**fields: Any) -> Listing:
    """Return a draft with a file."""
    return add_candidate(ListingFactory(**fields))


def submitted(listing: Listing | None = None) -> Listing:
    """Return a listing, or an update, that waits for review."""
    listing = listing or draft()
    return submission.submit_listing(listing=listing, checks=PASSED, actor=listing.store.owner)


def open_review(listing: Listing) -> ListingReview:
    """Return what waits about the listing."""
    return ListingReview.objects.get(listing=listing, status=ReviewStatus.PENDING)


def published(reviewer: User | None = None, **fields: Any) -> Listing:
    """Return a listing that a reviewer approved."""
    listing = submitted(draft(**fields))
    services.approve_listing(review=open_review(listing), actor=reviewer or UserFactory())
    return Listing.objects.get(pk=listing.pk)


def rejected(**fields: Any) -> Listing:
    """Return a listing that a reviewer rejected."""
    listing = submitted(draft(**fields))
    services.reject_listing(review=open_review(listing), findings=[FINDING], actor=UserFactory())
    return Listing.objects.get(pk=listing.pk)


MAKERS: dict[ListingStatus, Callable[[], Listing]] = {
    ListingStatus.DRAFT: draft,
    ListingStatus.PENDING_REVIEW: submitted,
    ListingStatus.PUBLISHED: published,
    ListingStatus.REJECTED: rejected,
}


def claim_review(review: ListingReview, actor: User) -> ListingReview:
    """Claim a review as its queue does."""
    claimed: ListingReview = ListingReviewAdmin(ListingReview, admin.site).claim_row(review, actor)
    return claimed


def claim_next_review(actor: User, after: ListingReview | None = None) -> ListingReview | None:
    """Claim the next review of the whole queue."""
    listed = ListingReview.objects.all()
    review: ListingReview | None = ListingReviewAdmin(ListingReview, admin.site).claim_next(actor, after=after, listed=listed)
    return review
