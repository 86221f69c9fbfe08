"""The decision to take a listing down, shared by the admin pages of listings and reviews."""

from collections.abc import Callable
from typing import Any

from marketplace.review.decisions import Decision

from ..models import Listing
from ..models.listings import ListingStatus, UpdateStatus
from ..selectors.listings import purchases_of

TAKEDOWN = "catalog.takedown_listing"


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


def _effects(listing: Listing) -> list[str]:
    effects = [f"Purchases that remain valid: {purchases_of(listing)}. Those buyers keep their downloads."]
    if listing.update_status == UpdateStatus.PENDING_REVIEW:
        effects.append("The update that waits for review is rejected with it.")
    return effects
