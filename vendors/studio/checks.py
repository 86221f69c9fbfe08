"""The checks of a submission as pages show them: as text, with a link to the page where a failed one is fixed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from catalog.models import Listing
from catalog.models.listings import ListingStatus, UpdateStatus

from ..services.checks import run_checks


class _Words(NamedTuple):
    """The text of a check; where `failed` is empty, the service's detail is shown instead."""

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
    """A row of the checklist.

    Args:
        words: The description of the check.
        passed: Whether it passed.
        detail: Why it failed, and what to do.
        route: The page where it is fixed.
        step: The link's text.
        warning: What could be better although it passed.
    """

    words: str
    passed: bool
    detail: str
    route: str
    step: str
    warning: str


def may_submit(listing: Listing) -> bool:
    """Tell whether the listing, or a new file of it, can be submitted now."""
    if listing.status == ListingStatus.PUBLISHED:
        return listing.candidate_deliverable_id is not None and listing.update_status != UpdateStatus.PENDING_REVIEW
    return listing.status != ListingStatus.PENDING_REVIEW


def checklist_of(listing: Listing) -> list[CheckRow]:
    """Run the checks and return their rows."""
    return check_rows(outcome.as_json() for outcome in run_checks(listing))


def check_rows(outcomes: Iterable[Mapping[str, Any]]) -> list[CheckRow]:
    """Return the rows of checks, from their outcomes by the service or a stored review."""
    rows = []
    for outcome in outcomes:
        words, passed = _WORDS[outcome["name"]], outcome["passed"]
        detail = (words.passed if passed else words.failed) or outcome["detail"]
        rows.append(CheckRow(words.title, passed, detail, words.route, words.step, outcome.get("warning", "")))
    return rows
