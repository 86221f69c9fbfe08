"""What a decision does to this very listing, in figures."""

from ..models import Listing, ListingReview
from ..models.listings import UpdateStatus
from ..selectors.listings import purchases_of


def takedown_does(listing: Listing) -> list[str]:
    """Return who is touched by a takedown."""
    purchases = purchases_of(listing)
    waits = ["The update that waits for review is rejected with it."] if listing.update_status == UpdateStatus.PENDING_REVIEW else []
    return [f"Purchases that stand: {purchases}. Those buyers keep their downloads.", *waits]


def case_takedown_does(review: ListingReview) -> list[str]:
    """Return who is touched by a takedown of the case's listing."""
    return takedown_does(review.listing)
