"""A listing's history for its vendor, from the audit log; reviewers are not named."""

from dataclasses import dataclass
from datetime import datetime

from catalog.models import Listing

from ..selectors import steps_of

STEPS = 20
WORDS = {
    "listing.submit": "Sent for review",
    "listing.withdraw": "Withdrawn from the review",
    "listing.approve": "Published",
    "listing.reject": "Sent back by a reviewer",
    "listing.takedown": "Taken off sale by a reviewer",
    "listing.unpublish": "Taken off sale by you",
    "listing_update.submit": "New file sent for review",
    "listing_update.withdraw": "New file withdrawn from the review",
    "listing_update.approve": "New file on sale",
    "listing_update.reject": "New file sent back by a reviewer",
}


@dataclass(frozen=True)
class Step:
    """One entry of the history."""

    at: datetime
    words: str


def timeline_of(listing: Listing) -> list[Step]:
    """Return the last steps, newest first; where these are all, with the creation of the listing as the first step."""
    steps = [Step(entry.at, WORDS[entry.action]) for entry in steps_of(listing, WORDS)[:STEPS]]
    return steps if len(steps) == STEPS else [*steps, Step(listing.created_at, "Created")]
