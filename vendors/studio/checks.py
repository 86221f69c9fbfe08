"""The checks of a submission as pages show them: in words, and with the place where one that failed is mended."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from catalog.models import Listing
from catalog.models.listings import ListingStatus, UpdateStatus

from ..services.checks import run_checks


class _Words(NamedTuple):
    """How a check is told to a person; where `failed` is empty, the service's own sentence says what failed."""

    title: str
    passed: str
    failed: str
    route: str
    step: str


_WORDS = {
    "file_integrity": _Words("The file", "It is stored as you uploaded it.", "", "studio-files", "Go to the file"),
    "preview_thumbnail": _Words(
        "The cover picture",
        "It is shown on the listing's card in the storefront.",
        "Upload one. It is shown on the listing's card in the storefront.",
        "studio-files",
        "Go to the pictures",
    ),
    "pricing": _Words("The prices", "All prices and the discount are valid.", "", "studio-prices", "Go to the prices"),
    "licensing": _Words(
        "The licences",
        "Buyers can choose at least one.",
        "None of the licences that you allow is offered any more. Allow another one.",
        "studio-licences",
        "Go to the licences",
    ),
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
    return check_rows(outcome.as_json() for outcome in run_checks(listing))


def check_rows(outcomes: Iterable[Mapping[str, Any]]) -> list[CheckRow]:
    """Return checks as pages show them, from what the service or a review says of each."""
    rows = []
    for outcome in outcomes:
        words, passed = _WORDS[outcome["name"]], outcome["passed"]
        detail = (words.passed if passed else words.failed) or outcome["detail"]
        rows.append(CheckRow(words.title, passed, detail, words.route, words.step))
    return rows
