"""Submits listings: the checks run first, outside of any transaction, then the status changes."""

from dataclasses import asdict

from catalog.errors import NothingToReview
from catalog.models import Listing
from catalog.models.listings import ListingStatus
from catalog.services.submission import submit_listing
from catalog.services.transitions import LISTING_TRANSITIONS, UPDATE_TRANSITIONS
from marketplace.accounts.models import User
from marketplace.core.errors import InvalidTransition

from ..errors import SubmitChecksFailed
from .submission_checks import run_checks


def check_and_submit(*, listing: Listing, actor: User) -> Listing:
    """Check a listing, or the new file of a published one, and queue it for review.

    Raises:
        InvalidTransition: it is under review already, or its file was replaced while it was checked.
        NothingToReview: it is published and has no new file.
        PreconditionFailed: it has changed since the state that If-Match names.
        SubmitChecksFailed: at least one check failed.
    """
    _refuse_early(listing)
    checks = [asdict(check) for check in run_checks(listing)]
    if not all(check["passed"] for check in checks):
        raise SubmitChecksFailed(checks=checks)
    return submit_listing(listing=listing, checks=checks, actor=actor)


def _refuse_early(listing: Listing) -> None:
    """Refuse what the transition would refuse, before a large stored file is compared with its record; the transition checks again."""
    published = listing.status == ListingStatus.PUBLISHED
    if published and listing.candidate_deliverable_id is None:
        raise NothingToReview
    if not (UPDATE_TRANSITIONS if published else LISTING_TRANSITIONS).allows(listing, "submit"):
        raise InvalidTransition("It is already in review.", currentState=listing.update_status or listing.status)
