"""The decisions to take a listing down and to block a file, shared by the admin pages of listings, files and reviews."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

from marketplace.review.decisions import Decision

from ..models import Deliverable, Listing
from ..models.listings import ListingStatus, UpdateStatus
from ..selectors.listings import purchase_count
from .review_page import block_context

TAKEDOWN = "catalog.takedown_listing"
BLOCK = "catalog.block_deliverable"


def takedown_decision(listing_of: Callable[[Any], Listing]) -> Decision:
    """Return the takedown decision for an admin page; `listing_of` returns the listing of the page's row."""
    return Decision(
        "Take down",
        TAKEDOWN,
        "The listing leaves the catalog at once. Buyers can still download it. The vendor gets the reason by mail.",
        "The listing was taken down.",
        available=lambda row: listing_of(row).status == ListingStatus.PUBLISHED,
        danger=True,
        effects=lambda row: _effects(listing_of(row)),
    )


def block_decision(files_of: Callable[[Any], QuerySet[Deliverable]]) -> Decision:
    """Return the decision to block the file of an admin page's row; `files_of` returns a queryset of the file."""
    return Decision(
        "Block file",
        BLOCK,
        "The file can no longer be downloaded from any listing, not even by its buyers. Its vendors and whoever downloaded it get an email with your reason.",
        "The file was blocked in all listings.",
        available=lambda row: files_of(row).filter(blocked_at__isnull=True).exists(),
        context=lambda row: block_context(files_of(row)),
        template="admin/catalog/block.html",
        danger=True,
    )


def _effects(listing: Listing) -> list[str]:
    effects = [f"Purchases that remain valid: {purchase_count(listing)}. Those buyers keep their downloads."]
    if listing.update_status == UpdateStatus.PENDING_REVIEW:
        effects.append("The update that waits for review is rejected with it.")
    return effects
