"""The checks of a submission as pages show them: in words, and with the place where one that failed is mended."""

from dataclasses import dataclass

from catalog.models import Listing
from catalog.models.listings import ListingStatus, UpdateStatus

from ..services.checks import run_checks

_WORDS = {
    "file_integrity": ("The file", "studio-files", "Go to the files"),
    "preview_thumbnail": ("The picture on the card", "studio-files", "Go to the pictures"),
    "pricing": ("Prices", "studio-prices", "Go to the prices"),
    "licensing": ("Licences", "studio-licences", "Go to the licences"),
}


@dataclass(frozen=True)
class CheckRow:
    """A line of the checklist.

    Args:
        words: What is checked.
        passed: How it came out.
        detail: Why, and what to do where it failed.
        route: The page where it is mended.
        step: The link's text.
    """

    words: str
    passed: bool
    detail: str
    route: str
    step: str


def may_submit(listing: Listing) -> bool:
    """Tell whether there is something that could be sent to the reviewers now."""
    if listing.status == ListingStatus.PUBLISHED:
        return listing.candidate_deliverable_id is not None and listing.update_status != UpdateStatus.PENDING_REVIEW
    return listing.status != ListingStatus.PENDING_REVIEW


def checklist_of(listing: Listing) -> list[CheckRow]:
    """Return how each check would come out now."""
    rows = []
    for outcome in run_checks(listing):
        words, route, step = _WORDS[outcome.name]
        rows.append(CheckRow(words, outcome.passed, outcome.detail, route, step))
    return rows
